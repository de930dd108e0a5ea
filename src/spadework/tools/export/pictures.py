"""Recognise stored pictures by their first bytes, and read them. Nothing is decoded here."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spadework.values import PICTURE_NAME

FOLDER = "pictures"
#: Maximum bytes of a picture, and its pixels: a browser needs four bytes for each.
MOST_BYTES, MOST_PIXELS = 1_000_000, 25_000_000
#: Anything smaller is an icon.
LEAST_SIDE = 100
_PNG, _GIF = re.compile(rb"\x89PNG\r\n\x1a\n.{4}IHDR", re.DOTALL), re.compile(rb"GIF8[79]a")
#: JPEG: segments, each with its length, up to the one with the frame's height and width.
_JPEG = re.compile(rb"\xff+([\xc0-\xcf\xda-\xfe])(..)(.(..)(..))?", re.DOTALL)
_NO_FRAME = b"\xc4\xc8\xcc"
_WEBP = re.compile(rb"RIFF.{4}WEBPVP8([ LX])", re.DOTALL)
_big = partial(int.from_bytes, byteorder="big")
_little = partial(int.from_bytes, byteorder="little")


class Header(NamedTuple):
    """The format of a picture, which is also its file extension, and its size in pixels."""

    format: str
    width: int
    height: int


def header_of(data: bytes) -> Header | None:
    """Return the header of a PNG, JPEG, GIF or WebP picture that is fit to be shown, else None."""
    found = _read_header(data) if len(data) <= MOST_BYTES else None
    if found is None or min(found[1:]) < LEAST_SIDE or found.width * found.height > MOST_PIXELS:
        return None
    return found


def _read_header(data: bytes) -> Header | None:
    if _PNG.match(data):
        return Header("png", _big(data[16:20]), _big(data[20:24]))
    if _GIF.match(data):
        return Header("gif", _little(data[6:8]), _little(data[8:10]))
    if data.startswith(b"\xff\xd8"):
        return _jpeg(data)
    if form := _WEBP.match(data):
        return _webp(form[1], data)
    return None


def _jpeg(data: bytes) -> Header | None:
    at = 2
    while segment := _JPEG.match(data, at):
        marker, length, frame, height, width = segment.groups()
        if frame and marker < b"\xd0" and marker not in _NO_FRAME:
            return Header("jpeg", _big(width), _big(height))
        at = segment.end(1) + max(2, _big(length))
    return None


def _webp(form: bytes, data: bytes) -> Header:
    if form == b"X":
        return Header("webp", _little(data[24:27]) + 1, _little(data[27:30]) + 1)
    if form == b"L":
        sides = _little(data[21:25])
        return Header("webp", (sides & 0x3FFF) + 1, (sides >> 14 & 0x3FFF) + 1)
    return Header("webp", _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF)


def read_picture(folder: Path, name: str) -> tuple[bytes, Header] | None:
    """Return a picture of the session in `folder` and its header; None if it is not there."""
    if not re.fullmatch(PICTURE_NAME, name):
        return None
    try:
        with (folder / FOLDER / name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return None
    header = header_of(data)
    return (data, header) if header else None
