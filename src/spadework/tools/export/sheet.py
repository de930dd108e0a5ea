"""The report layout and bar charts that all export formats share. Pictures are never decoded."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from spadework.tools.export.section_blocks import INFERRED
from spadework.tools.text.facts import figures
from spadework.tools.text.language import ENGLISH, Phrases
from spadework.tools.text.markdown import Strength
from spadework.values import PICTURE_NAME, CoverageState, Form, SectionKind

PICTURE_FOLDER = "pictures"
#: Maximum bytes and pixels of a picture. A browser needs four bytes of memory per pixel.
PICTURE_BYTES, MOST_PIXELS = 1_000_000, 25_000_000
#: Minimum picture width and height in pixels. Smaller pictures are treated as icons.
LEAST_SIDE = 100
_PNG, _GIF = re.compile(rb"\x89PNG\r\n\x1a\n.{4}IHDR", re.DOTALL), re.compile(rb"GIF8[79]a")
#: A JPEG segment: marker, length and, for a frame, height and width.
_JPEG = re.compile(rb"\xff+([\xc0-\xcf\xda-\xfe])(..)(.(..)(..))?", re.DOTALL)
_NO_FRAME = b"\xc4\xc8\xcc"
_WEBP = re.compile(rb"RIFF.{4}WEBPVP8([ LX])", re.DOTALL)
_big = partial(int.from_bytes, byteorder="big")
_little = partial(int.from_bytes, byteorder="little")
#: Minimum and maximum rows of a table shown as a chart.
LEAST_BARS, MOST_BARS = 2, 12
#: Numbers that look like years or versions. Without a unit, they are not charted.
_BARE = re.compile(r"[12]\d{3}|\d+(?:[.,]\d+)+")


class Header(NamedTuple):
    """A picture's format (also its file extension) and its size in pixels."""

    format: str
    width: int
    height: int


def header_of(data: bytes) -> Header | None:
    """Return a picture's header, or None if its format is unknown or its size unsuitable."""
    found = _read_header(data) if len(data) <= PICTURE_BYTES else None
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
    """Return a session's picture and its header, or None if the picture is unusable."""
    if not re.fullmatch(PICTURE_NAME, name):
        return None
    try:
        with (folder / PICTURE_FOLDER / name).open("rb") as file:
            data = file.read(PICTURE_BYTES + 1)
    except OSError:
        return None
    header = header_of(data)
    return (data, header) if header else None


class Run(NamedTuple):
    """Text in one style, without markup."""

    text: str
    code: bool = False
    strength: Strength | None = None


class Marker(NamedTuple):
    """A mark after a sentence, which opens card `card`. The card shows the quotes from source `n`,
    or the premises of a conclusion if `n` is 0.
    """

    n: int
    card: int
    label: str = ""

    @property
    def sign(self) -> str:
        """The text of the mark."""
        return f"[{self.n}]" if self.n else INFERRED


@dataclass(frozen=True)
class Said:
    """A sentence or a code block, with its markers."""

    runs: tuple[Run, ...]
    markers: tuple[Marker, ...] = ()
    code: bool = False
    language: str = ""


Item = tuple[Said, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph or code block (each is one item), a list, a table or a sub-heading."""

    kind: Form
    items: tuple[Item, ...] = ()
    heading: tuple[Run, ...] = ()
    columns: tuple[tuple[Run, ...], ...] = ()
    rows: tuple[tuple[Item, ...], ...] = ()


@dataclass(frozen=True)
class Figure:
    """A stored picture, its caption and the host of the page it comes from."""

    name: str
    data: bytes
    header: Header
    caption: Said
    host: str

    @property
    def uri(self) -> str:
        """The picture as a data URI."""
        return f"data:image/{self.header.format};base64,{b64encode(self.data).decode()}"


@dataclass(frozen=True)
class Chapter:
    """A section of the report."""

    heading: tuple[Run, ...]
    kind: SectionKind
    blocks: tuple[Block, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Quoted:
    """A quote with its context. `link` is "" if the page is not on the web."""

    id: str
    runs: tuple[Run, ...]
    code: bool
    link: str
    date: str
    heading: tuple[Run, ...] = ()
    before: tuple[Run, ...] = ()
    after: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Reference:
    """A cited source. `link` is "" if browsers cannot open it. `url` is for display only."""

    n: int
    title: tuple[Run, ...]
    host: str
    url: str
    link: str
    date: str
    quotes: tuple[Quoted, ...]
    author: str = ""


@dataclass(frozen=True)
class Opened:
    """A source on a card, and those of its quotes that the card shows."""

    source: Reference
    quotes: tuple[Quoted, ...]


@dataclass(frozen=True)
class Card:
    """The content that a marker opens: quotes from one source, or a conclusion's premises."""

    opened: tuple[Opened, ...]
    concluded: bool = False


@dataclass(frozen=True)
class Proven:
    """A topic's coverage. `chapter` is the index of the topic's chapter, or None if it has none."""

    name: tuple[Run, ...]
    state: CoverageState
    quotes: int
    chapter: int | None


@dataclass(frozen=True)
class Sheet:
    """Everything an export shows. `explained` explains the conclusion sign, or is "" if unused."""

    title: tuple[Run, ...]
    facts: tuple[str, ...]
    topics: tuple[Proven, ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Reference, ...]
    cards: tuple[Card, ...]
    explained: str
    say: Phrases = ENGLISH


def words(runs: tuple[Run, ...]) -> str:
    """Return the plain text of runs."""
    return "".join(run.text for run in runs)


@dataclass(frozen=True)
class Bar:
    """A bar of a chart, with its length in percent."""

    label: Item
    value: Item
    percent: float


@dataclass(frozen=True)
class Chart:
    """A bar chart of a table column, named after the column."""

    name: tuple[Run, ...]
    bars: tuple[Bar, ...]


def chart_of(table: Block, language: str) -> Chart | None:
    """Return a bar chart of the first column whose figures are all cited and have the same unit.
    Return None if there is no such column, or if the table has too few or too many rows.
    `language` is the report's language.
    """
    if not LEAST_BARS <= len(table.rows) <= MOST_BARS:
        return None
    for column in range(1, len(table.columns)):
        values = [_with_marks(row, column) for row in table.rows]
        if sizes := _sizes(values, language):
            most = max(sizes)
            bars = (
                Bar(row[0], value, round(100 * size / most, 1))
                for row, value, size in zip(table.rows, values, sizes, strict=True)
            )
            return Chart(table.columns[column], tuple(bars))
    return None


def _sizes(values: Sequence[Item], language: str) -> list[float]:
    """Return the figures in a column, or [] if any is not cited or not comparable."""
    units, sizes = set(), []
    for value in values:
        text = " ".join(words(said.runs) for said in value)
        found = figures(text, language)
        read = {one.value for figure in found for one in figure.readings if not one.dimension}
        if len(found) != 1 or len(read) != 1 or not any(said.markers for said in value):
            return []
        before, _, after = text.partition(found[0].text)
        units.add((before.strip(), after.strip().casefold()))
        sizes.append(read.pop())
    if units == {("", "")} and all(_BARE.fullmatch(words(each[0].runs).strip()) for each in values):
        return []
    return sizes if len(units) == 1 and min(sizes) >= 0 < max(sizes) else []


def _with_marks(row: Sequence[Item], column: int) -> Item:
    cell = row[column]
    if not cell or any(said.markers for said in cell):
        return cell
    whole: tuple[Marker, ...] = next((s.markers for c in row[::-1] for s in c if s.markers), ())
    return (*cell[:-1], replace(cell[-1], markers=whole))
