"""Pictures of one colour, or of which only the header is true."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 320, height: int = 200, *, whole: bool = True) -> bytes:
    """Return a grey PNG; without its pixels unless `whole`."""
    rows = zlib.compress((b"\0" + b"\x90" * width) * height) if whole else b""
    parts = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", rows)
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (*parts, (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def gif(width: int = 320, height: int = 200) -> bytes:
    """Return the header of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int = 320, height: int = 200, *, before: bytes = b"") -> bytes:
    """Return the segments of a JPEG up to its frame."""
    jfif = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    table = b"\xff\xc4\x00\x06\x01\x02\x03\x04"
    frame = struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8" + jfif + before + table + b"\xff\xff\xc2" + frame + b"\xff\xda\0\2\xff\xd9"


def webp(form: str = "VP8X", width: int = 320, height: int = 200) -> bytes:
    """Return the header of a WebP in one of its three forms."""
    sides = {
        "VP8X": bytes(4) + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3],
        "VP8L": b"\x2f" + struct.pack("<I", (width - 1) & 0x3FFF | ((height - 1) & 0x3FFF) << 14),
        "VP8 ": bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width & 0x3FFF, height & 0x3FFF),
    }[form]
    return b"RIFF\0\1\0\0WEBP" + form.encode() + b"\0\1\0\0" + sides
