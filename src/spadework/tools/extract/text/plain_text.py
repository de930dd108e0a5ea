"""Convert plain text, reStructuredText and delimited data to Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from inspect import cleandoc
from itertools import islice, pairwise

from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.markdown_writer import (
    blocks,
    fence,
    item,
    plain,
    sheet_table,
    write_heading,
)
from spadework.tools.extract.text.docstring_markup import docstring_markdown

_UNDERLINE = re.compile(r"([=\-~*^#])\1{2,}\s*$")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?\s+[A-Z]\S*(?:\s+\S+){0,9}$")
_BULLET = re.compile(r"\s{0,3}(?:[-*+\u2022\u2013]|(\d{1,3}[.)]))\s+(?=\S)")
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S")
#: The start of a list-like line: a date, as in a log, or a label before a column of prose.
_ENTRY = re.compile(r"(?:\d{1,4}[./-]\d\d?[./-]\d{1,4}\b|\S.{0,30}? {2,}(?=(?:\S+ ){4}))")
#: A paragraph becomes a list if at least this fraction of its lines matches _ENTRY.
_ENTRIES = 0.75
_PARTS = re.compile(r"\n(?:[ \t]*\n)+")
#: A line with at least this many characters counts as wrapped by an editor, and the next line is
#: joined to it.
_WRAPPED = 45
#: The minimum indentation of code and tables, in spaces.
_INDENTED = 4


def extract_text(text: str, url: str) -> Extracted:
    """Convert a text file to Markdown. The title is a heading or short line at the start, or ""."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\f", "\n\n")
    parts = [part for part in _PARTS.split(text.strip("\n")) if part.strip()]
    found = _join_blocks([_block(part) for part in parts])
    markdown = blocks(found)
    return Extracted(
        title=_title(parts, found), markdown=markdown + "\n" if markdown else "", kind="text"
    )


def _block(part: str) -> str:
    lines = [line.rstrip() for line in part.expandtabs(4).split("\n")]
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1]) and lines[0].strip():
        return write_heading(lines[0].strip(), 1 if lines[1][0] in "=#*" else 2)
    if len(lines) == 1 and (level := _heading_level(lines[0])):
        return write_heading(lines[0], level)
    if len(lines) == 3 and _UNDERLINE.fullmatch(lines[0]) and lines[2] == lines[0]:
        return write_heading(lines[1], 1)
    if _BULLET.match(lines[0]):
        return _list(lines)
    starts = [bool(_ENTRY.match(line)) for line in lines]
    if starts[0] and len(lines) > 2 and sum(starts) >= _ENTRIES * len(lines):
        marked = zip(lines, starts, strict=True)
        return _list([f"- {line}" if begins else line for line, begins in marked])
    columns = len(lines) > 1 and sum(map(bool, map(_COLUMNS.search, lines))) > len(lines) / 2
    if columns or min(len(line) - len(line.lstrip()) for line in lines if line) >= _INDENTED:
        return fence("\n".join(lines))
    return plain(_unwrap_lines(lines))


def _heading_level(line: str) -> int:
    if number := _NUMBERED.match(line):
        return 0 if line.endswith((".", ",", ";")) else 2 + number[1].count(".")
    words = line.strip()
    shouted = words.isupper() and 4 <= len(words) <= 60 and words[-1].isalnum() and line == words
    return 2 if shouted else 0


def _list(lines: list[str]) -> str:
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        if bullet := _BULLET.match(line):
            marker = f"{bullet[1].rstrip(').')}." if bullet[1] else "-"
            items.append((marker, [line[bullet.end() :]]))
        else:
            items[-1][1].append(line.strip())
    return "\n".join(item(plain(" ".join(words)), marker) for marker, words in items)


def _unwrap_lines(lines: list[str]) -> str:
    """Join wrapped lines, but keep short lines separate, as in addresses and verse."""
    text = lines[0].strip()
    for before, line in pairwise(lines):
        text += (" " if len(before) >= _WRAPPED else "\n") + line.strip()
    return text


def _join_blocks(found: list[str]) -> list[str]:
    joined: list[str] = []
    for block in found:
        if joined and joined[-1].startswith("```\n") and block.startswith("```\n"):
            joined[-1] = f"{joined[-1].removesuffix('```')}\n{block.removeprefix('```' + chr(10))}"
        else:
            joined.append(block)
    return joined


def _title(parts: list[str], found: list[str]) -> str:
    if found and found[0].startswith("#"):
        return found[0].lstrip("# ")
    first = parts[0].strip() if parts else ""
    alone = "\n" not in first and not first.endswith((".", ",", ":"))
    return first if 2 < len(first) <= 100 and alone else ""


#: A reStructuredText title, which is underlined and perhaps also overlined.
_RST_TITLE = re.compile(
    r"^(?:(?P<above>([=\-~^*+\"'`#_])\2+)[ \t]*\n)?[ \t]*(?P<title>\S.*)\n"
    r"(?P<below>([=\-~^*+\"'`#_])\5+)[ \t]*$",
    re.M,
)
_RST_TARGET = re.compile(r"^ *\.\. _`?([^:`\n]+)`?:\s+(https?://\S+)$", re.M)
_RST_NAMED = re.compile(r"`([^`<>]{1,200})`_\b|(?<![\w`])(\w[\w.-]{,60})_(?![\w`])")
_RST_LINK = re.compile(r"`([^`<>]{1,200}?)\s{1,50}<(https?://[^`<>\s]+)>`__?")
_RST_STANDS_FOR = re.compile(r"^ *\.\. \|([^|\n]+)\| (\w+):: *(.*)$", re.M)
_RST_PLACE = re.compile(r"\|([^|\s][^|\n]{,60})\|_{,2}")


def extract_rst(text: str, url: str) -> Extracted:
    """Convert reStructuredText to Markdown, dropping images, comments and site-building directives.
    The title is the heading at the start, or "".
    """
    text = cleandoc(text.replace("\r\n", "\n").replace("\r", "\n"))
    if texts := {n: said * (kind == "replace") for n, kind, said in _RST_STANDS_FOR.findall(text)}:
        text = _RST_PLACE.sub(lambda name: texts.get(name[1], name[0]), text)
    targets = {name.casefold(): url for name, url in _RST_TARGET.findall(text)}
    styles: list[tuple[bool, str]] = []

    def titled(match: re.Match[str]) -> str:
        style = (bool(match["above"]), match["below"][0])
        if style not in styles:
            styles.append(style)
        return f"\n{'#' * min(styles.index(style) + 1, 6)} {match['title']}\n"

    def linked(match: re.Match[str]) -> str:
        name = " ".join((match[1] or match[2]).split())
        url = targets.get(name.casefold())
        return f"`{name} <{url}>`_" if url else match[0]

    text = _RST_NAMED.sub(linked, text) if targets else text
    text = _RST_LINK.sub(lambda link: " ".join(link[0].split()), text)
    markdown = docstring_markdown(_RST_TITLE.sub(titled, text), 1)
    first = markdown.partition("\n")[0]
    return Extracted(
        title=first.lstrip("# ").replace("`", "") if first.startswith("#") else "",
        markdown=markdown + "\n" if markdown else "",
        links=tuple(dict.fromkeys(Link(url, text) for text, url in _RST_LINK.findall(text))),
        kind="documentation",
    )


_SIGNS = ",;\t|"
#: Maximum rows examined to find the delimiter.
_SAMPLE = 30


def extract_delimited(text: str, url: str) -> Extracted:
    """Return the first rows and columns of delimited data as a table."""
    lines = text.removeprefix("\ufeff").replace("\0", "")
    sign = max(_SIGNS, key=lambda sign: _agreement(lines, sign))
    rows = _Rows(lines, sign)
    shown = sheet_table(rows)
    return Extracted(title=file_name(url), markdown=blocks([shown, rows.damage]), kind="csv")


def _agreement(text: str, sign: str) -> int:
    """Split the first rows at `sign`. Return how many agree on one number of cells (2 or more)."""
    widths = Counter(len(row) for row in islice(_Rows(text, sign), _SAMPLE) if row)
    return max((count for width, count in widths.items() if width > 1), default=0)


class _Rows:
    """The rows of delimited data. If one cannot be parsed, reading stops and `damage` says why."""

    def __init__(self, text: str, sign: str) -> None:
        self.damage = ""
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign)

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from self._reader
        except csv.Error as error:
            self.damage = (
                f"… Everything after line {self._reader.line_num:,} is not shown: {error}."
            )
