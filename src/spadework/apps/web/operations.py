"""What those ask who keep a server going: does it live, does it take questions, its numbers."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from spadework.apps.web.page_context import server_of

FRESH = {"Cache-Control": "no-store"}


def operating_routes() -> list[BaseRoute]:
    """The routes; `permissions` says who may ask for which."""
    return [
        Route("/healthz", tell_alive),
        Route("/readyz", tell_ready),
        Route("/metrics", tell_numbers),
    ]


async def tell_alive(request: Request) -> Response:
    """That the process lives."""
    return PlainTextResponse("ok\n", headers=FRESH)


async def tell_ready(request: Request) -> Response:
    """That questions may be sent here, or why they may not."""
    fault = await server_of(request).readiness.fault()
    return PlainTextResponse(f"{fault or 'ready'}\n", 503 if fault else 200, headers=FRESH)


async def tell_numbers(request: Request) -> Response:
    """What the process has done, for Prometheus."""
    from spadework.sessions.metrics import expose  # nobody may ever ask for them

    accept = request.headers.get("accept", "")
    body, media_type = expose(accept, server_of(request).owner.streams.total())
    return Response(body, headers={**FRESH, "Content-Type": media_type})
