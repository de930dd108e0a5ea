"""Statuses: those that mean something, and those that mean nothing."""

from __future__ import annotations

from spadework.errors import Blocked, FetchError, Unreachable, Unreadable
from tests.world.zoo.animal import Animal, Refused
from tests.world.zoo.serving import http, in_turn, says
from tests.world.zoo.texts import PAGE, WHOLE
from tests.world.zoo.visit import Visit

_ERROR_PAGE = (
    "<title>Error</title><h1>Something is wrong</h1><p>The keeper of this site has been told of it"
    " and will look soon.</p>"
)
_OK = http(PAGE)


def _error(status: str, *headers: str) -> bytes:
    return http(_ERROR_PAGE, *headers, status=status)


def _named(status: str, error: type[FetchError], *headers: str, visits: int = 1) -> Animal:
    return Animal(
        f"{status} {' '.join(headers)}".strip(),
        says(_error(status, *headers)),
        Refused(error, f"returned {status[:3]}"),
        visits=visits,
    )


async def _browsers_only(visit: Visit) -> None:
    await visit.send(
        _OK if "mozilla" in visit.headers.get("user-agent", "") else _error("403 Forbidden")
    )


_INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
_BROKEN = Refused(Unreachable, "sent a broken response")
_EMPTY = Refused(Unreadable, "no text")

STATUSES = (
    Animal("000", says(http(PAGE, status="000 None")), _BROKEN, visits=2),
    Animal("99", says(http(PAGE, status="99 Luftballons")), _BROKEN, visits=2),
    Animal("1000", says(http(PAGE, status="1000 Nights")), _BROKEN, visits=2),
    Animal("a status in words", says(http(PAGE, status="OK OK")), _BROKEN, visits=2),
    Animal("a status without a reason", says(http(PAGE, status="200")), WHOLE),
    Animal("a reason that is not ASCII", says(http(PAGE, status="200 在庫あり")), WHOLE),
    Animal("a reason that lies", says(http(PAGE, status="200 Not Found")), WHOLE),
    Animal("299", says(http(PAGE, status="299 Fine")), WHOLE),
    Animal("203", says(http(PAGE, status="203 Non-Authoritative Information")), WHOLE),
    Animal("204", says(http("", status="204 No Content")), _EMPTY),
    Animal("205", says(http("", status="205 Reset Content")), _EMPTY),
    Animal(
        "206 of the whole page",
        says(
            http(
                PAGE,
                f"Content-Range: bytes 0-{len(PAGE) - 1}/{len(PAGE)}",
                status="206 Partial Content",
            )
        ),
        WHOLE,
    ),
    Animal(
        "206 of a part",
        says(http(PAGE, "Content-Range: bytes 0-599/9000", status="206 Partial Content")),
        Refused(Unreachable, "only part of"),
    ),
    Animal(
        "304 unasked",
        says(b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        Refused(Unreadable, "304 (not modified)"),
    ),
    Animal(
        "101 unasked",
        says(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\n\r\nhello"),
        _BROKEN,
        visits=2,
    ),
    Animal("100 a thousand times", says(_INTERIM * 1_000 + _OK), WHOLE),
    Animal("103 and then the page", says(_HINTS + _HINTS + _OK), WHOLE),
    Animal(
        "300 without a choice",
        says(_error("300 Multiple Choices")),
        Refused(Unreadable, "300 (multiple choices)"),
    ),
    _named("400 Bad Request", Blocked),
    _named("401 Unauthorized", Blocked, 'WWW-Authenticate: Basic realm="harbour"'),
    _named("402 Payment Required", Blocked),
    _named("403 Forbidden", Blocked, visits=2),
    _named("404 Not Found", Blocked),
    _named("406 Not Acceptable", Blocked, visits=2),
    _named("407 Proxy Authentication Required", Blocked),
    _named("410 Gone", Blocked),
    _named("418 I'm a Teapot", Blocked),
    _named("429 Too Many Requests", Blocked, visits=2),
    _named("429 Too Many Requests", Blocked, "Retry-After: 3600"),
    _named("429 Too Many Requests", Blocked, "Retry-After: Fri, 01 Jan 2100 00:00:00 GMT"),
    _named(
        "429 Too Many Requests", Blocked, "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", visits=2
    ),
    _named("429 Too Many Requests", Blocked, "Retry-After: " + "9" * 400),
    _named("429 Too Many Requests", Blocked, "Retry-After: -1", visits=2),
    _named("429 Too Many Requests", Blocked, "Retry-After: soon", visits=2),
    _named(
        "429 Too Many Requests", Blocked, "Retry-After: Fri, 31 Feb 9999 99:99:99 GMT", visits=2
    ),
    _named("451 Unavailable For Legal Reasons", Blocked),
    _named("500 Internal Server Error", Unreachable, visits=2),
    _named("502 Bad Gateway", Unreachable, visits=2),
    _named("503 Service Unavailable", Unreachable, visits=2),
    _named("503 Service Unavailable", Unreachable, "Retry-After: 86400"),
    _named("504 Gateway Timeout", Unreachable, visits=2),
    _named("511 Network Authentication Required", Unreachable),
    _named("520 Web Server Returned an Unknown Error", Unreachable, visits=2),
    _named("999 Request Denied", Blocked),
    Animal("500, then fine", in_turn(_error("500 Oops"), _OK), WHOLE, visits=2),
    Animal("closed, then fine", in_turn(b"", _OK), WHOLE, visits=2),
    Animal(
        "503 for a moment, then fine",
        in_turn(_error("503 Wait", "Retry-After: 0"), _OK),
        WHOLE,
        visits=2,
    ),
    Animal(
        "429 for a moment, then fine",
        in_turn(_error("429 Wait", "Retry-After: 1"), _OK),
        WHOLE,
        visits=2,
    ),
    Animal("403, but fine for a browser", _browsers_only, WHOLE, visits=2),
)
