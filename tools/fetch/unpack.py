"""Undoing a content encoding without ever holding more than the limit."""

from __future__ import annotations

import zlib

from spadework.errors import TooLarge, Unreachable, Unreadable

#: What is asked for. Each coding here can be undone piecewise; others (br, zstd) cannot with what is installed.
ACCEPT_ENCODING = "gzip, deflate"

#: A body may grow this many times, once it is over RATIO_FREE bytes. Text seldom grows more than thirtyfold, a bomb a thousandfold.
MAX_RATIO = 200
RATIO_FREE = 1_000_000

_GZIP, _ZLIB, _RAW = 31, 15, -15


def unpack(body: bytes, encoding: str, limit: int) -> bytes:
    """The body without its content encoding. What stands behind the end of the packed data is ignored, as browsers do.

    Raises TooLarge over `limit` bytes or MAX_RATIO, Unreachable when the data are broken, Unreadable for an encoding not asked for.
    """
    window = _window(body, encoding.strip().lower())
    if window is None or not body:
        return body
    most = min(limit, max(RATIO_FREE, MAX_RATIO * len(body)))
    inflate = zlib.decompressobj(window)
    try:
        plain = inflate.decompress(body, most + 1)
    except zlib.error:
        raise Unreachable("The answer is broken: its compressed body cannot be read.") from None
    if len(plain) > most:
        raise TooLarge(f"The page is larger than {most:,} bytes when unpacked.")
    if not inflate.eof:
        raise Unreachable("The answer is broken: its compressed body ends early.")
    return plain


def _window(body: bytes, encoding: str) -> int | None:
    """How zlib must read the body; None when it is not packed. "deflate" comes with the header of zlib or, wrongly, without."""
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip"):
        return _GZIP
    if encoding == "deflate":
        return _ZLIB if body[:1] and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0 else _RAW
    raise Unreadable(f"The content encoding {encoding[:40]!r} is not read.")
