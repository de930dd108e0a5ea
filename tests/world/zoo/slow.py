"""Servers that take their time."""

from __future__ import annotations

import gzip

from spadework.errors import TooSlow
from tests.world.zoo.animal import Animal, Refused
from tests.world.zoo.serving import chunked, drips, endless, http, later, mute, says
from tests.world.zoo.texts import PAGE, WHOLE
from tests.world.zoo.visit import Visit

_HEAD, _, _BODY = http(PAGE).partition(b"\r\n\r\n")
_CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
_LATE = Refused(TooSlow, " within 0.7 s")
_QUIET = Refused(TooSlow, "did not begin to respond within 0.4 s")


async def _chain(visit: Visit) -> None:
    """Every address leads to the next one, late."""
    await later(says(http("", f"Location: /{visit.times}{visit.path}", status="302 Found")), 0.2)(
        visit
    )


SLOW = (
    Animal("a late first byte", later(says(http(PAGE)), 0.3), WHOLE),
    Animal("a page in drops", drips(_HEAD + b"\r\n\r\n", _BODY, seconds=0.01, step=50), WHOLE),
    Animal("no answer", mute(), _LATE, seconds=0.7),
    Animal("no answer within the time for it", mute(), _QUIET, first_byte=0.4),
    Animal("headers alone", mute(_HEAD + b"\r\n\r\n"), _LATE, seconds=0.7),
    Animal(
        "a body that stops",
        mute(_HEAD + b"\r\n\r\n" + _BODY[:300]),
        Refused(TooSlow, "sent nothing for 0.4 s"),
        first_byte=0.4,
    ),
    Animal(
        "one byte of a header at a time", drips(b"", _HEAD, seconds=0.03), _QUIET, first_byte=0.4
    ),
    Animal(
        "one byte of the body at a time",
        drips(_HEAD + b"\r\n\r\n", _BODY, seconds=0.03),
        _LATE,
        seconds=0.7,
    ),
    Animal(
        "one byte of the body at a time, compressed",
        drips(_HEAD + b"\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(_BODY), seconds=0.03),
        _LATE,
        seconds=0.7,
    ),
    Animal("redirects one after the other, each late", _chain, _LATE, seconds=0.7, visits=5),
    Animal("a whole page on a line left open", mute(http(PAGE)), WHOLE, seconds=3),
    Animal(
        "a whole page in chunks on a line left open",
        mute(_CHUNKED + chunked(PAGE.encode())),
        WHOLE,
        seconds=3,
    ),
    Animal(
        "the last chunk never comes",
        mute(_CHUNKED + chunked(PAGE.encode())[:-5]),
        _LATE,
        seconds=0.7,
    ),
    Animal(
        "go on, go on, go on",
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 10),
        _QUIET,
        first_byte=0.4,
        sent=100_000_000,
    ),
)
