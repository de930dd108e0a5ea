"""Content encodings: used rightly, wrongly, and as a weapon."""

from __future__ import annotations

import gzip
import zlib

from spadework.errors import TooLarge, Unreachable, Unreadable
from tests.world.zoo.animal import Animal, Read, Refused
from tests.world.zoo.serving import http, says
from tests.world.zoo.texts import PAGE, WHOLE

_PLAIN = PAGE.encode()
_GZIP = gzip.compress(_PLAIN)
_BROKEN = Refused(Unreachable, "broken")


def _coded(
    name: str, coding: str, body: bytes, expect: Read | Refused = WHOLE, visits: int = 1
) -> Animal:
    return Animal(
        name,
        says(http(body, f"Content-Encoding: {coding}")),
        expect,
        visits=visits,
        settings={"page_bytes": 1_000_000},
    )


_HALF = len(_PLAIN) // 2

CODINGS = (
    _coded("gzip", "gzip", _GZIP),
    _coded("gzip by its old name", "x-GZIP", _GZIP),
    _coded(
        "gzip in two members", "gzip", gzip.compress(_PLAIN[:_HALF]) + gzip.compress(_PLAIN[_HALF:])
    ),
    _coded("gzip with something behind it", "gzip", _GZIP + b"\x00" * 20 + b"garbage"),
    _coded("gzip that is plain", "gzip", _PLAIN, _BROKEN, visits=2),
    _coded("gzip that ends early", "gzip", _GZIP[:-60], _BROKEN, visits=2),
    _coded("gzip with a wrong sum", "gzip", _GZIP[:-8] + b"\x00" * 8, _BROKEN, visits=2),
    _coded("gzip of nothing", "gzip", b"", Refused(Unreadable, "no text")),
    _coded("gzip twice", "gzip, gzip", gzip.compress(_GZIP)),
    _coded("gzip twice, said once", "gzip", gzip.compress(_GZIP)),
    Animal("gzip that is not named", says(http(_GZIP)), WHOLE),
    _coded(
        "a gzip bomb",
        "gzip",
        gzip.compress(b"<p>" + b" " * 50_000_000),
        Refused(TooLarge, "1,000,000 bytes"),
    ),
    _coded(
        "a gzip bomb in a gzip bomb",
        "gzip, gzip",
        gzip.compress(gzip.compress(b" " * 50_000_000)),
        Refused(TooLarge, "1,000,000 bytes"),
    ),
    _coded("gzip twenty times", ", ".join(["gzip"] * 20), _GZIP, Refused(Unreadable, "gzip")),
    _coded("deflate as zlib", "deflate", zlib.compress(_PLAIN)),
    _coded("identity", "identity", _PLAIN),
    _coded("an empty coding", "", _PLAIN),
    _coded("Brotli", "br", _PLAIN, Refused(Unreadable, "'br' is not supported")),
    _coded("Zstandard", "zstd", _PLAIN, Refused(Unreadable, "'zstd' is not supported")),
    _coded(
        "a coding nobody knows",
        "x-lighthouse",
        _PLAIN,
        Refused(Unreadable, "'x-lighthouse' is not supported"),
    ),
    _coded("a charset as a coding", "UTF-8", _PLAIN, Refused(Unreadable, "is not supported")),
)
