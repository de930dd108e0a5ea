"""Headers that are too many, too long, wrong, or not for us."""

from __future__ import annotations

from spadework.errors import Unreachable
from tests.world.zoo.animal import Animal, Refused, read
from tests.world.zoo.serving import endless, http, paths, says
from tests.world.zoo.texts import LAST, PAGE, WHOLE
from tests.world.zoo.visit import Visit

_BROKEN = Refused(Unreachable, "sent a broken response")
_START = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_EVIL = http(
    "<p>This answer was smuggled in behind another one, and belongs to no page at all.</p>"
)


async def _smuggles(visit: Visit) -> None:
    """The first answer brings a second one with it, for whatever is asked next on this
    connection.
    """
    visit.keep = True
    moved = http("", "Location: /there", status="302 Found")
    await visit.send(moved + _EVIL if visit.path == "/" else http(PAGE))


async def _smuggles_behind_a_page(visit: Visit) -> None:
    """The same behind a page that is read to its end, so that the connection is used again."""
    visit.keep = True
    signpost = http('<meta http-equiv="refresh" content="0; url=/there">')
    await visit.send(signpost + _EVIL if visit.path == "/" else http(PAGE))


async def _trails(visit: Visit) -> None:
    """Garbage behind an answer, on a connection that stays open."""
    visit.keep = True
    moved = http("", "Location: /there", status="302 Found")
    await visit.send(moved + b"garbage\r\n\r\n" if visit.path == "/" else http(PAGE))


async def _hangs_up(visit: Visit) -> None:
    """Promises to keep the connection, and closes it with the answer."""
    moved = http("", "Location: /there", "Connection: keep-alive", status="302 Found")
    await visit.send(moved if visit.path == "/" else http(PAGE, "Connection: keep-alive"))


_STORM = [f"Set-Cookie: c{n}={'x' * 100}" for n in range(500)]

HEADERS = (
    Animal(
        "headers without end",
        endless(_START, b"X-More: of it\r\n" * 100),
        _BROKEN,
        visits=2,
        sent=2_000_000,
    ),
    Animal(
        "a header without end",
        endless(_START + b"X-Long: ", b"a" * 1_000),
        _BROKEN,
        visits=2,
        sent=2_000_000,
    ),
    Animal(
        "a status line without end",
        endless(b"HTTP/1.1 200 ", b"very " * 200),
        _BROKEN,
        visits=2,
        sent=2_000_000,
    ),
    Animal(
        "a header of one megabyte",
        says(_START + b"X-Long: " + b"a" * 1_000_000 + b"\r\n\r\n" + PAGE.encode()),
        _BROKEN,
        visits=2,
    ),
    Animal(
        "ten thousand headers",
        says(http(PAGE, *[f"X-{n}: {n}" for n in range(10_000)])),
        _BROKEN,
        visits=2,
    ),
    Animal("a thousand headers", says(http(PAGE, *[f"X-{n}: {n}" for n in range(1_000)])), WHOLE),
    Animal("a header with a null", says(http(PAGE, b"X-Null: a\x00b")), _BROKEN, visits=2),
    Animal("a header that is not UTF-8", says(http(PAGE, b"X-Latin: f\xfcnf \xff\xfe")), WHOLE),
    Animal("a header without a colon", says(http(PAGE, "this is no header")), _BROKEN, visits=2),
    Animal("a header without a name", says(http(PAGE, ": value")), _BROKEN, visits=2),
    Animal("a space before the colon", says(http(PAGE, "X-Space : value")), _BROKEN, visits=2),
    Animal("a header over two lines", says(http(PAGE, "X-Folded: one\r\n  two")), WHOLE),
    Animal("an empty header", says(http(PAGE, "X-Empty:")), WHOLE),
    Animal("lines that end bare", says(http(PAGE).replace(b"\r\n", b"\n")), WHOLE),
    Animal("two media types", says(http(PAGE, "Content-Type: image/png")), WHOLE),
    Animal("cookies by the hundred", says(http(PAGE, *_STORM)), WHOLE),
    Animal(
        "cookies by the hundred on the way",
        paths(
            {"/": http("", "Location: /there", *_STORM, status="302 Found"), "/there": http(PAGE)}
        ),
        WHOLE,
        visits=2,
    ),
    Animal(
        "a cookie of garbage",
        says(http(PAGE, b"Set-Cookie: \xff\xfe=;;; expires=never; domain=.com")),
        WHOLE,
    ),
    Animal(
        "HSTS",
        says(http(PAGE, "Strict-Transport-Security: max-age=63072000; includeSubDomains; preload")),
        WHOLE,
    ),
    Animal(
        "another service is named", says(http(PAGE, 'Alt-Svc: h3="10.0.0.1:443"; ma=86400')), WHOLE
    ),
    Animal(
        "links to load early",
        says(http(PAGE, "Link: </style.css>; rel=preload, <http://10.0.0.1/next>; rel=next")),
        WHOLE,
    ),
    Animal(
        "a file to keep",
        says(http(PAGE, 'Content-Disposition: attachment; filename="../../etc/passwd.html"')),
        WHOLE,
    ),
    Animal(
        "a part nobody asked for is named",
        says(http(PAGE, "Content-Range: bytes 0-9/10", "Accept-Ranges: none")),
        WHOLE,
    ),
    Animal(
        "a date of garbage",
        says(http(PAGE, "Date: Fri, 31 Feb 9999 99:99:99 +999999999999", "Age: -1", "Expires: 0")),
        WHOLE,
    ),
    Animal(
        "a date in no words",
        says(http(PAGE, b"Date: \xff\xfe", b"Last-Modified: yesterday", b"ETag: \xfc")),
        WHOLE,
    ),
    Animal(
        "a date far away",
        says(
            http(
                PAGE,
                "Date: Fri, 31 Dec 9999 23:59:59 GMT",
                "Expires: Fri, 31 Dec 99999 23:59:59 GMT",
            )
        ),
        WHOLE,
    ),
    Animal(
        "freshness of garbage",
        says(http(PAGE, 'Cache-Control: max-age=soon, =, ,,, no-store="', "Vary: *, \xe9")),
        WHOLE,
    ),
    Animal(
        "freshness without end",
        says(http(PAGE, f"Cache-Control: max-age={'9' * 400}", f"Age: {'9' * 400}")),
        WHOLE,
    ),
    Animal(
        "a tag without end",
        says(http(PAGE, f'ETag: "{"a" * 50_000}"', "Cache-Control: no-cache")),
        WHOLE,
    ),
    Animal("an upgrade is offered", says(http(PAGE, "Upgrade: h2c", "Connection: Upgrade")), WHOLE),
    Animal(
        "a second answer for the next request",
        _smuggles,
        read(LAST, without=("smuggled",)),
        visits=3,
    ),
    Animal(
        "a second answer behind a page that leads on",
        _smuggles_behind_a_page,
        read(LAST, without=("smuggled",)),
        visits=3,
    ),
    Animal("garbage before the next answer", _trails, WHOLE, visits=4),
    Animal("a connection that is not kept", _hangs_up, WHOLE, visits=2),
)
