"""The site `odd`: every way in which a web server is difficult while it still speaks HTTP."""

from __future__ import annotations

import functools
import gzip
import zlib

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, Router

from tests.world import redirects, waits
from tests.world.paper import pdf

_PLAIN = (
    "<title>A plain page</title><article><h1>A plain page</h1><p>The lighthouse of Port Aldermere"
    " is 41 metres tall and was first lit on 3 October 1887. It has burned whale oil, paraffin and"
    " electricity in turn.</p><p>Since 1992 nobody has lived in it, and the lamp is watched from"
    " the harbour office four kilometres away.</p></article>"
)
_GERMAN = (
    "<article><h1>Der Leuchtturm</h1><p>Der Leuchtturm von Aldermünde ist für Gäste geöffnet; die"
    " Öffnungszeiten ändern sich täglich, und das Café schließt früher als üblich.</p><p>Die"
    " Führung kostet fünf Kronen und dauert ungefähr vierzig Minuten.</p></article>"
)
_ETAG, _CHANGED = '"tide-1974"', "Wed, 14 Jan 2026 08:30:00 GMT"


async def plain(request: Request) -> Response:
    """An ordinary page."""
    return HTMLResponse(_PLAIN)


async def status(request: Request) -> Response:
    """The status in the path; `?after=` is the header Retry-After; with `?times=` only that often,
    then an ordinary page.
    """
    times = int(request.query_params.get("times", 0))
    if times and request.state.times > times:
        return HTMLResponse(_PLAIN)
    after = request.query_params.get("after")
    code = request.path_params["code"]
    return HTMLResponse(
        f"<title>{code}</title><h1>Error {code}</h1>",
        code,
        {"retry-after": after} if after else None,
    )


@functools.cache
def zeros(megabytes: int, layers: int) -> bytes:
    """Spaces by the megabyte, gzipped `layers` times: about a thousandth of the size for each
    layer.
    """
    body = b"<html><body><p>" + b" " * (megabytes * 1_000_000)
    for _ in range(layers):
        body = gzip.compress(body)
    return body


async def bomb(request: Request) -> Response:
    """A body that unpacks to `?megabytes=` (20), from a thousandth of that; `?layers=` (1) of
    gzip.
    """
    layers = int(request.query_params.get("layers", 1))
    body = zeros(int(request.query_params.get("megabytes", 20)), layers)
    return Response(
        body, media_type="text/html", headers={"content-encoding": ", ".join(["gzip"] * layers)}
    )


async def packed(request: Request) -> Response:
    """An ordinary page in the content encoding of the path: gzip or deflate; `broken` is gzip that
    ends early.
    """
    name = request.path_params["name"]
    body = zlib.compress(_PLAIN.encode()) if name == "deflate" else gzip.compress(_PLAIN.encode())
    encoding = "gzip" if name == "broken" else name
    return Response(
        body[:-40] if name == "broken" else body,
        media_type="text/html",
        headers={"content-encoding": encoding},
    )


async def charset(request: Request) -> Response:
    """A German page: `lying` says utf-8 and is latin-1; `meta` names latin-1 in the page alone;
    `header`, in the header; `bom`: UTF-16.
    """
    name = request.path_params["name"]
    meta = '<meta charset="iso-8859-1">' if name == "meta" else ""
    text = (
        f"<html><head>{meta}<title>Der Leuchtturm von"
        f" Aldermünde</title></head><body>{_GERMAN}</body></html>"
    )
    header = {"lying": "text/html; charset=utf-8", "header": "text/html; charset=ISO-8859-1"}.get(
        name, "text/html"
    )
    return Response(
        text.encode("utf-16" if name == "bom" else "latin-1"), headers={"content-type": header}
    )


async def kept(request: Request) -> Response:
    """A page with ETag, Last-Modified and `?age=` (0) seconds of freshness; 304 to a client that
    has it.
    """
    age = request.query_params.get("age", "0")
    headers = {"etag": _ETAG, "last-modified": _CHANGED, "cache-control": f"max-age={age}"}
    known = (
        request.headers.get("if-none-match") == _ETAG
        or request.headers.get("if-modified-since") == _CHANGED
    )
    return (
        Response(status_code=304, headers=headers)
        if known
        else HTMLResponse(_PLAIN, headers=headers)
    )


async def bot_wall(request: Request) -> Response:
    """403 unless the client looks like a browser: Mozilla in its name and a language it accepts."""
    browser = (
        "Mozilla" in request.headers.get("user-agent", "") and "accept-language" in request.headers
    )
    return (
        HTMLResponse(_PLAIN)
        if browser
        else HTMLResponse("<title>Are you human?</title><h1>Access denied</h1>", 403)
    )


async def cookie_wall(request: Request) -> Response:
    """Sends the client round until it brings the cookie it was given."""
    if request.cookies.get("seen") == "1":
        return HTMLResponse(_PLAIN)
    answer = RedirectResponse(request.url.path, 302)
    answer.set_cookie("seen", "1")
    return answer


async def deep(request: Request) -> Response:
    """`?levels=` (50,000) elements, one inside the other."""
    levels = int(request.query_params.get("levels", 50_000))
    return HTMLResponse("<title>Deep</title>" + "<div>" * levels + "bottom" + "</div>" * levels)


async def long(request: Request) -> Response:
    """A page of `?paragraphs=` (500), each of which states something else, about 140 characters
    long.
    """
    lines = (
        f"<p>On day {n} of the survey the gauge at pier {n % 17} read {n * 37 % 900} millimetres,"
        f" and the keeper of watch {n % 5} counted {n * 13 % 211} ships and {n * 7 % 83} seals.</p>"
        for n in range(1, 1 + int(request.query_params.get("paragraphs", 500)))
    )
    return HTMLResponse(
        "<title>The long survey</title><article><h1>The long survey</h1>"
        + "\n".join(lines)
        + "</article>"
    )


async def untyped(request: Request) -> Response:
    """A page without the header Content-Type."""
    return Response(_PLAIN)


async def octets(request: Request) -> Response:
    """A PDF that is called a stream of octets."""
    return Response(
        pdf("Harbour dues\n\nA boat under ten metres pays 14 crowns a night."),
        media_type="application/octet-stream",
    )


async def not_a_pdf(request: Request) -> Response:
    """A web page that says it is a PDF."""
    return Response(_PLAIN, media_type="application/pdf")


async def robots(request: Request) -> Response:
    """There is no robots.txt here."""
    return PlainTextResponse("no such file", 404)


site = Router(
    [
        Route("/robots.txt", robots),
        Route("/plain", plain),
        Route("/status/{code:int}", status),
        Route("/chain/{left:int}", redirects.chain),
        Route("/loop/{end}", redirects.loop),
        Route("/grow/{step:int}", redirects.grow),
        Route("/to", redirects.to),
        Route("/refresh", redirects.refresh),
        Route("/hang", waits.hang),
        Route("/slow-start", waits.slow_start),
        Route("/drip", waits.drip),
        Route("/endless", waits.endless),
        Route("/bomb", bomb),
        Route("/packed/{name}", packed),
        Route("/charset/{name}", charset),
        Route("/kept", kept),
        Route("/bot-wall", bot_wall),
        Route("/cookie-wall", cookie_wall),
        Route("/deep", deep),
        Route("/long", long),
        Route("/untyped", untyped),
        Route("/octets", octets),
        Route("/not-a.pdf", not_a_pdf),
    ]
)
