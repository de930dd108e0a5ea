"""Servers that send the reader elsewhere."""

from __future__ import annotations

from spadework.errors import Blocked, FetchError, NotAllowed, Unreachable, Unreadable
from tests.world.zoo.animal import Animal, Read, Refused
from tests.world.zoo.serving import http, paths, says
from tests.world.zoo.texts import PAGE, WHOLE, page
from tests.world.zoo.visit import Visit

_THERE = {"/there": http(PAGE)}


def _to(
    name: str,
    location: str | bytes,
    expect: Read | Refused,
    status: str = "302 Found",
    visits: int = 1,
) -> Animal:
    header = b"Location: " + (location.encode() if isinstance(location, str) else location)
    return Animal(
        f"to {name}", paths(_THERE | {"/": http("", header, status=status)}), expect, visits=visits
    )


def _forbidden(name: str, location: str, says: str) -> Animal:
    return _to(name, location, Refused(NotAllowed, says))


def _page(
    name: str, head: str, *headers: str, expect: Read | Refused = WHOLE, visits: int = 2
) -> Animal:
    return Animal(
        name, paths(_THERE | {"/": http(page("", head), *headers)}), expect, visits=visits
    )


async def _wants_a_cookie(visit: Visit) -> None:
    brought = visit.headers.get("cookie", "") == "seen=1"
    await visit.send(
        http(PAGE)
        if brought
        else http("", "Location: /", "Set-Cookie: seen=1; Path=/", status="302 Found")
    )


async def _grows(visit: Visit) -> None:
    await visit.send(http("", f"Location: {visit.path}a/", status="302 Found"))


async def _chain(visit: Visit) -> None:
    left = int(visit.path.strip("/") or 6) - 1
    status = ("301 Moved", "302 Found", "303 See", "307 Later", "308 For good", "301 Moved")[left]
    await visit.send(http("", f"Location: /{left}", status=status) if left else http(PAGE))


_LOOP = Refused(Unreachable, "redirects more than 8 times")
_STAYS = Refused(Unreadable, "returned 302")
_SCRIPT = "<script>window.location.replace('/there')</script>"


def _refused(error: type[FetchError], says: str) -> Refused:
    return Refused(error, says)


REDIRECTS = (
    Animal(
        "a loop",
        paths(
            {
                "/": http("", "Location: /b", status="302 F"),
                "/b": http("", "Location: /", status="302 F"),
            }
        ),
        _LOOP,
        visits=9,
    ),
    Animal("to itself", says(http("", "Location: /", status="302 Found")), _LOOP, visits=9),
    Animal("to itself with a cookie", _wants_a_cookie, WHOLE, visits=2),
    Animal("a loop that grows", _grows, _LOOP, visits=9),
    Animal("a chain of every kind", _chain, WHOLE, visits=6),
    _to("a path", "/there", WHOLE, visits=2),
    _to("a relative path", "./x/../there", WHOLE, "307 Temporary Redirect", 2),
    _to("a path without a scheme", "//@HERE@/there", WHOLE, "301 Moved Permanently", 2),
    _to("a part of a page", "http://@HERE@/there#lens", WHOLE, "308 Permanent Redirect", 2),
    _to("a path with spaces around it", "  /there  ", WHOLE, visits=2),
    _to("nothing", "", _STAYS),
    _to("garbage", "http://[not an address", Refused(NotAllowed, "is not an http or https URL")),
    _to("bytes that are no text", b"/th\xff\xferere", Refused(Blocked, "returned 404"), visits=2),
    _to("an endless path", "/" + "a" * 5_000, Refused(NotAllowed, "longer than 2000 characters")),
    _to(
        "https on a plain port",
        "https://@HERE@/there",
        Refused(Unreachable, "could not be reached"),
        visits=4,
    ),
    _forbidden("a file", "file:///etc/passwd", "is not an http or https URL"),
    _forbidden("a script", "javascript:alert(1)", "is not an http or https URL"),
    _forbidden("data", "data:text/html,<p>hello</p>", "is not an http or https URL"),
    _forbidden("FTP", "ftp://ftp.example.com/there", "is not an http or https URL"),
    _forbidden("a port that is none", "http://@HERE@9/there", "is not an http or https URL"),
    _forbidden("a private address", "http://10.0.0.1/there", "10.0.0.1 is not a public address"),
    _forbidden(
        "another loopback address", "http://127.0.0.2:9/there", "127.0.0.2 is not a public address"
    ),
    _forbidden(
        "an address in decimal", "http://2130706434:9/there", "127.0.0.2 is not a public address"
    ),
    _forbidden(
        "an address in octal", "http://0177.0.0.2:9/there", "127.0.0.2 is not a public address"
    ),
    _forbidden("IPv6 loopback", "http://[::1]:9/there", "::1 is not a public address"),
    _forbidden("IPv4 in IPv6", "http://[::ffff:127.0.0.2]:9/there", "is not a public address"),
    _forbidden(
        "the metadata of a cloud",
        "http://169.254.169.254/latest/meta-data/",
        "169.254.169.254 is not a public address",
    ),
    _forbidden(
        "a URL with a password", "http://keeper:hunter2@@HERE@/there", "user name or password"
    ),
    Animal("a redirect without a place", says(http("", status="302 Found")), _STAYS),
    Animal(
        "two places",
        paths(_THERE | {"/": http("", "Location: /there", "Location: /b", status="302 Found")}),
        Refused(Unreachable, "redirects to 2 different addresses"),
    ),
    _page("a refresh in the page", '<meta http-equiv="refresh" content="0; url=/there">'),
    _page("a refresh in odd spelling", "<META content='1;URL=\"/there\"' HTTP-EQUIV=Refresh>"),
    _page(
        "a refresh to a file",
        '<meta http-equiv="refresh" content="0; url=file:///etc/passwd">',
        expect=_refused(NotAllowed, "not an http"),
        visits=1,
    ),
    _page(
        "a refresh to a script",
        '<meta http-equiv="refresh" content="0; url=javascript:alert(1)">',
        expect=_refused(NotAllowed, "not an http"),
        visits=1,
    ),
    _page(
        "a refresh to itself",
        '<meta http-equiv="refresh" content="0; url=/">',
        expect=_LOOP,
        visits=9,
    ),
    _page("a refresh in the headers", "", "Refresh: 0; url=/there"),
    _page("a redirect by script", _SCRIPT, expect=_refused(Unreadable, "no text"), visits=1),
    Animal(
        "a page that renews itself",
        says(http(PAGE.replace("<head>", '<head><meta http-equiv="refresh" content="300">'))),
        WHOLE,
    ),
    Animal(
        "a page that leaves in an hour",
        says(
            http(PAGE.replace("<head>", '<head><meta http-equiv="refresh" content="3600; url=/b">'))
        ),
        WHOLE,
    ),
)
