"""Decompress response bodies as they arrive, within a size limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

from spadework.errors import TooLarge, Unreachable, Unreadable

ACCEPT_ENCODING = "gzip, deflate"
#: Maximum decompression ratio of data that unpack to more than RATIO_FREE bytes. Text reaches about
#: 30, and decompression bombs reach 1,000.
MAX_RATIO = 200
RATIO_FREE = 1_000_000
MAX_LAYERS = 3
#: Maximum number of decompressed bytes to produce at a time.
PIECE = 65_536
#: The window size that makes zlib read gzip.
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_STARTS = b"\x1f\x8b"


class _Coding(Protocol):
    @property
    def open(self) -> bool:
        """True until the compressed data have ended."""
        ...

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Decode `chunk`, yielding the decoded bytes in pieces. Raises zlib.error."""
        ...


class _Zlib:
    def __init__(self, window: int = zlib.MAX_WBITS) -> None:
        self._inflate = zlib.decompressobj(window)

    @property
    def open(self) -> bool:
        return not self._inflate.eof

    @property
    def behind(self) -> bytes:
        return self._inflate.unused_data

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        piece = b""
        while self.open and (chunk or len(piece) == PIECE):
            piece = self._inflate.decompress(chunk, PIECE)
            chunk = self._inflate.unconsumed_tail
            yield piece


class _Gzip:
    """Decodes consecutive gzip members, and ignores other bytes after them."""

    def __init__(self) -> None:
        self._member = _Zlib(_GZIP)
        self._behind = b""

    @property
    def open(self) -> bool:
        return self._member.open

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._member.open:
                yield from self._member.pieces(chunk)
                chunk = b"" if self._member.open else self._member.behind
            elif len(self._behind) < len(_GZIP_STARTS):
                self._behind += chunk
                chunk = self._next_member()
            else:
                return

    def _next_member(self) -> bytes:
        if not self._behind.startswith(_GZIP_STARTS):
            return b""
        packed, self._behind, self._member = self._behind, b"", _Zlib(_GZIP)
        return packed


_CODINGS: dict[str, Callable[[], _Coding]] = {"gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Zlib}


class Unpacker:
    """Decodes a body as it arrives, to at most `limit` bytes per layer of encoding."""

    def __init__(self, encoding: str, limit: int) -> None:
        """Set up the decoders. Raises Unreadable for an unsupported encoding."""
        given = [part.strip() for part in encoding.lower().split(",")]
        names = [name for name in given if name not in ("", "identity")]
        if len(names) > MAX_LAYERS or not _CODINGS.keys() >= set(names):
            raise Unreadable(f"The content encoding {encoding.strip()[:40]!r} is not supported.")
        self._layers = [_Layer(_CODINGS[name](), limit) for name in reversed(names)]
        self._limit = limit
        self._plain = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Decode bytes. Raises TooLarge past the limit or MAX_RATIO, and Unreachable if corrupt."""
        try:
            self._pass_on(chunk, 0)
        except zlib.error:
            raise Unreachable("The response is broken: its compressed body is invalid.") from None

    def finish(self) -> bytes:
        """Return the whole body. Raises Unreachable if it is incomplete."""
        if any(layer.cut_short for layer in self._layers):
            raise Unreachable("The response is broken: its compressed body ends early.")
        return bytes(self._plain)

    def _pass_on(self, piece: bytes, depth: int) -> None:
        """Run `piece` through the decoders from `depth` on, part by part to limit memory use."""
        if depth < len(self._layers):
            for inner in self._layers[depth].pieces(piece):
                self._pass_on(inner, depth + 1)
            return
        self._plain += piece
        if len(self._plain) > self._limit:
            raise TooLarge(f"The page is larger than {self._limit:,} bytes.")


class _Layer:
    def __init__(self, coding: _Coding, limit: int) -> None:
        self._coding = coding
        self._limit = limit
        self._packed = self._unpacked = 0

    @property
    def cut_short(self) -> bool:
        """True if a non-empty stream ended early."""
        return self._packed > 0 and self._coding.open

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        self._packed += len(chunk)
        most = min(self._limit, max(RATIO_FREE, MAX_RATIO * self._packed))
        for piece in self._coding.pieces(chunk):
            self._unpacked += len(piece)
            if self._unpacked > most:
                raise TooLarge(f"The page is larger than {most:,} bytes when unpacked.")
            yield piece
