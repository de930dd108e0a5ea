"""Sites and their robots.txt."""

from __future__ import annotations

from spadework.errors import Blocked
from tests.world.zoo.animal import Animal, Read, Refused, Serve
from tests.world.zoo.serving import http, later, mute, says
from tests.world.zoo.texts import PAGE, WHOLE
from tests.world.zoo.visit import Visit

_OPEN = says(http(PAGE))
_NOBODY = "User-agent: *\nDisallow: /\n"
_CLOSED = Refused(Blocked, "robots.txt does not allow")


def _site(
    name: str, robots: Serve, expect: Read | Refused, seconds: float = 10.0, visits: int = 1
) -> Animal:
    return Animal(f"robots.txt {name}", _OPEN, expect, robots, seconds=seconds, visits=visits)


def _rules(text: str | bytes) -> Serve:
    return says(http(text, media_type="text/plain"))


async def _moved(visit: Visit) -> None:
    await visit.send(http(PAGE) if visit.path == "/" else http(_NOBODY, media_type="text/plain"))


ROBOTS = (
    _site("forbids all", _rules(_NOBODY), _CLOSED, visits=0),
    _site(
        "forbids us",
        _rules("User-agent: spadework\nDisallow: /\n\nUser-agent: *\nAllow: /\n"),
        _CLOSED,
        visits=0,
    ),
    _site(
        "forbids others",
        _rules("User-agent: badbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\n"),
        WHOLE,
    ),
    _site("with a mark of its encoding", _rules("\ufeff" + _NOBODY), _CLOSED, visits=0),
    _site("with lines that end bare", _rules(_NOBODY.replace("\n", "\r")), _CLOSED, visits=0),
    _site("of garbage", _rules(bytes(range(256)) * 50), WHOLE),
    _site("that is a page", says(http(PAGE)), WHOLE),
    _site(
        "that fails",
        says(http("", status="500 Oops")),
        Refused(Blocked, "so no page of this site may be read"),
        visits=0,
    ),
    _site("that is forbidden", says(http("", status="403 Forbidden")), WHOLE),
    _site("that breaks off", says(b"HTTP/1.1 200 OK\r\nContent-Len"), WHOLE),
    _site("that comes late", later(_rules(_NOBODY), 0.3), _CLOSED, visits=0),
    _site("that never comes", mute(), WHOLE),
    _site(
        "that leads in circles", says(http("", "Location: /robots.txt", status="302 Found")), WHOLE
    ),
    _site(
        "that leads inside",
        says(http("", "Location: http://10.0.0.1/robots.txt", status="302 Found")),
        WHOLE,
    ),
    Animal(
        "robots.txt elsewhere",
        _moved,
        _CLOSED,
        says(http("", "Location: /rules", status="301 Moved")),
        visits=1,
    ),
    _site("of ten megabytes", _rules(_NOBODY + "# nothing\n" * 999_000), _CLOSED, visits=0),
    _site("beyond every size", _rules(_NOBODY + "# nothing\n" * 1_100_000), WHOLE),
    _site("with a delay of a day", _rules("User-agent: *\nCrawl-delay: 86400\n"), WHOLE),
    _site(
        "with a delay of garbage",
        _rules("User-agent: *\nCrawl-delay: nan\nCrawl-delay: -5\nCrawl-delay: soon\n"),
        WHOLE,
    ),
)
