"""Decompress response bodies as they arrive, within a size limit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import brotli
import zstandard

from spadework.errors import TooLarge, Unreachable, Unreadable

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
#: Maximum expansion beyond RATIO_FREE bytes. Text expands about 30 times, bombs 1,000 times.
MAX_RATIO = 200
RATIO_FREE = 1_000_000
MAX_LAYERS = 3
#: Usual bytes of a piece. Brotli's are up to 2 times as large, zstd's up to 16 times.
PIECE = 65_536
#: Bytes of zstd decoded at a time. Four can expand to 128 KB, so 32 give at most 1 MB.
ZSTD_SLICE = 32
#: Largest zstd window that content encodings allow, in bytes (RFC 9659).
ZSTD_WINDOW = 8 * 1024 * 1024
_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)
_GZIP, _ZLIB, _RAW = 31, 15, -15
_GZIP_STARTS = b"\x1f\x8b"
_ZSTD_STARTS = b"\x28\xb5\x2f\xfd"


class _Coding(Protocol):
    @property
    def open(self) -> bool:
        """Whether the end of the compressed data is still to come."""
        ...

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Decode the next compressed bytes. Raises one of `_ERRORS`."""
        ...


class _Zlib:
    def __init__(self, window: int) -> None:
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


class _Deflate:
    """Deflate with a zlib header or, as some servers send it, without."""

    def __init__(self) -> None:
        self._head = b""
        self._zlib: _Zlib | None = None

    @property
    def open(self) -> bool:
        return self._zlib.open if self._zlib else bool(self._head)

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        if self._zlib is None:
            self._head = chunk = self._head + chunk
            if len(chunk) < 2:
                return
            wrapped = chunk[0] & 0x0F == 8 and int.from_bytes(chunk[:2], "big") % 31 == 0
            self._zlib = _Zlib(_ZLIB if wrapped else _RAW)
        yield from self._zlib.pieces(chunk)


class _Zstd:
    def __init__(self) -> None:
        decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._frame = decompressor.decompressobj(write_size=PIECE)
        self.behind = b""

    @property
    def open(self) -> bool:
        return not self._frame.eof

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        for start in range(0, len(chunk), ZSTD_SLICE):
            if not self.open:
                self.behind += chunk[start:]
                return
            yield self._frame.decompress(chunk[start : start + ZSTD_SLICE])
            if not self.open:
                self.behind = self._frame.unused_data


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def open(self) -> bool:
        return not self._stream.is_finished()

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        if not self.open:
            return
        piece = self._stream.process(chunk, output_buffer_limit=PIECE)
        while piece:
            yield piece
            piece = self._stream.process(b"", output_buffer_limit=PIECE) if self.open else b""


class _Members:
    """Concatenated streams, which gzip and zstd allow. Trailing bytes are ignored."""

    def __init__(self, starts: bytes, new: Callable[[], _Zlib | _Zstd]) -> None:
        self._starts = starts
        self._new = new
        self._member = new()
        self._behind = b""

    @property
    def open(self) -> bool:
        return self._member.open

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        while chunk:
            if self._member.open:
                yield from self._member.pieces(chunk)
                chunk = b"" if self._member.open else self._member.behind
            elif len(self._behind) < len(self._starts):
                self._behind += chunk
                chunk = self._next_member()
            else:
                return

    def _next_member(self) -> bytes:
        if not self._behind.startswith(self._starts):
            return b""
        packed, self._behind, self._member = self._behind, b"", self._new()
        return packed


_gzip = partial(_Members, _GZIP_STARTS, partial(_Zlib, _GZIP))
_CODINGS: dict[str, Callable[[], _Coding]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": partial(_Members, _ZSTD_STARTS, _Zstd),
}


class Unpacker:
    """Decodes a body as it arrives. Each layer may expand to at most `limit` bytes."""

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
        """Decode the next bytes.
        Those after the end are ignored, as in browsers. Raises TooLarge above the limit or
        MAX_RATIO, Unreachable if corrupt.
        """
        try:
            self._pass_on(chunk, 0)
        except _ERRORS:
            raise Unreachable("The response is broken: its compressed body is invalid.") from None

    def finish(self) -> bytes:
        """Return the whole body. Raises Unreachable if the compressed data are incomplete."""
        if any(layer.cut_short for layer in self._layers):
            raise Unreachable("The response is broken: its compressed body ends early.")
        return bytes(self._plain)

    def _pass_on(self, piece: bytes, depth: int) -> None:
        """Pass a piece through all further layers before decoding the next, to bound memory."""
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
        """Whether the stream ended early. An empty body did not."""
        return self._packed > 0 and self._coding.open

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        self._packed += len(chunk)
        most = min(self._limit, max(RATIO_FREE, MAX_RATIO * self._packed))
        for piece in self._coding.pieces(chunk):
            self._unpacked += len(piece)
            if self._unpacked > most:
                raise TooLarge(f"The page is larger than {most:,} bytes when unpacked.")
            yield piece
