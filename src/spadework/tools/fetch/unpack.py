"""Undoing content encodings as a body arrives, without ever holding more than the limit."""

from __future__ import annotations

from collections.abc import Iterator

from spadework.errors import TooLarge, Unreachable, Unreadable
from spadework.tools.fetch.codings import CODINGS, ERRORS, Coding

#: What is asked for: each coding here is undone in pieces.
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
#: A body over RATIO_FREE bytes may grow so often. Text grows thirtyfold, bombs a thousand.
MAX_RATIO = 200
RATIO_FREE = 1_000_000
#: So many codings, one upon the other, are undone; no server means more of them.
MAX_LAYERS = 3


class Unpacker:
    """Takes a body as it arrives, decoded; `limit` is in bytes, for every layer of it."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Raises Unreadable for an encoding that was not asked for."""
        given = [part.strip() for part in encoding.lower().split(",")]
        names = [name for name in given if name not in ("", "identity")]
        if len(names) > MAX_LAYERS or not CODINGS.keys() >= set(names):
            raise Unreadable(f"The content encoding {encoding.strip()[:40]!r} is not read.")
        self._layers = [_Layer(CODINGS[name](), limit) for name in reversed(names)]
        self._limit = limit
        self._plain = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. Raises TooLarge over the limit or MAX_RATIO, Unreachable if broken.
        What stands behind the end of the packed data is ignored, as browsers do.
        """
        try:
            self._pass_on(chunk, 0)
        except ERRORS:
            raise Unreachable("The answer is broken: its compressed body cannot be read.") from None

    def finish(self) -> bytes:
        """The body, when all of it was fed. Raises Unreachable when it ends early."""
        if any(layer.cut_short for layer in self._layers):
            raise Unreachable("The answer is broken: its compressed body ends early.")
        return bytes(self._plain)

    def _pass_on(self, piece: bytes, depth: int) -> None:
        """Send a piece through the layers from `depth` on, before the next is unpacked."""
        if depth < len(self._layers):
            for inner in self._layers[depth].pieces(piece):
                self._pass_on(inner, depth + 1)
            return
        self._plain += piece
        if len(self._plain) > self._limit:
            raise TooLarge(f"The page is larger than {self._limit:,} bytes.")


class _Layer:
    """One coding of a body, and what went in and came out of it, in bytes."""

    def __init__(self, coding: Coding, limit: int) -> None:
        self._coding = coding
        self._limit = limit
        self._packed = self._unpacked = 0

    @property
    def cut_short(self) -> bool:
        """Did it end before its end? A body without a single byte did not."""
        return self._packed > 0 and self._coding.open

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        self._packed += len(chunk)
        most = min(self._limit, max(RATIO_FREE, MAX_RATIO * self._packed))
        for piece in self._coding.pieces(chunk):
            self._unpacked += len(piece)
            if self._unpacked > most:
                raise TooLarge(f"The page is larger than {most:,} bytes when unpacked.")
            yield piece
