"""Answers that send the client elsewhere: a chain, a loop, a private address, another scheme."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response


async def chain(request: Request) -> Response:
    """`/chain/3` leads to `/chain/2` and so on, the kinds of redirect in turn, until `/chain/0`
    leads to `/plain`.
    """
    left = int(request.path_params["left"])
    return RedirectResponse(
        f"/chain/{left - 1}" if left else "/plain", (301, 302, 303, 307, 308)[left % 5]
    )


async def loop(request: Request) -> Response:
    """`/loop/a` leads to `/loop/b` and back."""
    return RedirectResponse("/loop/b" if request.path_params["end"] == "a" else "/loop/a", 302)


async def grow(request: Request) -> Response:
    """A loop that never names the same address twice: `/grow/1` leads to `/grow/2` and so on."""
    return RedirectResponse(f"/grow/{int(request.path_params['step']) + 1}", 302)


async def to(request: Request) -> Response:
    """Leads wherever `?url=` says, whatever it says."""
    return Response(status_code=302, headers={"location": request.query_params["url"]})


async def refresh(request: Request) -> Response:
    """A page that sends a browser elsewhere by a meta tag, to `?url=` (/plain)."""
    target = request.query_params.get("url", "/plain")
    return HTMLResponse(
        '<html><head><meta http-equiv="refresh" content="0;'
        f' url={target}"><title>Moved</title></head><body></body></html>'
    )
