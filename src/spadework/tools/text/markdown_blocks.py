"""The blocks of a Markdown text and where they stand: one pass over its lines.

A full CommonMark parser builds a tree that nobody here needs, at a tenth of the speed. Where this
scanner departs from CommonMark: a fenced block or table inside a list is a block of its own (so
that code is never taken for prose), a list is one block with its nested lists, and a row of cells
between pipes is a table also without a delimiter row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Kind = Literal["heading", "paragraph", "list", "code", "table", "quote"]

ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)", re.MULTILINE)

_FENCE = re.compile(r"([ \t]*)(`{3,}+(?!.*`)|~{3,})[ \t{.]*([^\s{}`]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FIRST_ITEM = re.compile(r"^[ \t]*(?:[-*+]|1[.)])[ \t]+\S")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `markdown[start:end]` without the last end. `language` is the word after a fence."""

    kind: Kind
    start: int
    end: int
    language: str = ""


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text in order, without overlap; only blank lines stand outside them."""
    lines = markdown.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: list[Block] = []
    i, in_list = 0, False
    while i < len(lines):
        if _blank(lines[i]):
            i += 1
            continue
        kind, after = _block_at(lines, i, in_list)
        fence = _FENCE.match(lines[i]) if kind == "code" else None
        end = starts[i] + len(markdown[starts[i] : starts[after]].rstrip())
        found.append(Block(kind, starts[i], end, fence[3].lower() if fence else ""))
        inner = _indent(lines[i]) > 0 and kind not in ("paragraph", "heading")
        in_list = kind == "list" or (in_list and inner)
        i = after
    return found


def _block_at(lines: list[str], i: int, in_list: bool) -> tuple[Kind, int]:
    """The kind of the block that begins in line `i`, and the line after it."""
    kind = _kind(lines, i, in_list)
    if in_list and kind == "paragraph" and _indent(lines[i]) > 1:
        kind = "list"
    match kind:
        case "code":
            return "code", _code_end(lines, i)
        case "table":
            return "table", _table_end(lines, i)
        case "quote":
            return "quote", _run_end(lines, i, ("quote", "paragraph"))
        case "list":
            return "list", _list_end(lines, i)
        case "heading":
            return "heading", i + 1
        case "rule":
            return "paragraph", i + 1
        case _:
            return _paragraph(lines, i)


def _kind(lines: list[str], i: int, inside: bool) -> Kind | Literal["rule"]:
    """What line `i` begins. `inside` a list or paragraph, a deep indent does not mean code."""
    line = lines[i]
    first = line.lstrip()[0]
    if not inside and _indent(line) > 3:
        return "code"
    if "|" in line and _is_table(lines, i):
        return "table"
    if first.isalpha():
        return "paragraph"
    if first in "`~" and _FENCE.match(line):
        return "code"
    if first == ">":
        return "quote"
    if first == "#" and _HEADING.match(line):
        return "heading"
    if first in "-*_" and _RULE.match(line.rstrip()):
        return "rule"
    return "list" if ITEM.match(line) else "paragraph"


def _paragraph(lines: list[str], i: int) -> tuple[Kind, int]:
    """A paragraph ends before a blank line or another block; an underline makes it a heading."""
    for j in range(i + 1, len(lines)):
        if _blank(lines[j]):
            return "paragraph", j
        if _UNDERLINE.match(lines[j]):
            return "heading", j + 1
        kind = _kind(lines, j, True)
        if kind != "paragraph" and (kind != "list" or _FIRST_ITEM.match(lines[j])):
            return "paragraph", j
    return "paragraph", len(lines)


def _list_end(lines: list[str], i: int) -> int:
    """A list goes on over lazy lines, and blank ones before an item or an indented line."""
    end = _run_end(lines, i, ("list", "paragraph"))
    following = end
    while following < len(lines):
        if _blank(lines[following]):
            following += 1
            continue
        kind = _kind(lines, following, True)
        indented = kind == "paragraph" and _indent(lines[following]) > 1
        if following == end or not (kind == "list" or indented):
            return end
        end = following = _run_end(lines, following, ("list", "paragraph"))
    return end


def _run_end(lines: list[str], i: int, kinds: tuple[Kind, ...]) -> int:
    """The line after the unbroken run of lines of these kinds."""
    for j in range(i + 1, len(lines)):
        if _blank(lines[j]) or _kind(lines, j, True) not in kinds:
            return j
    return len(lines)


def _code_end(lines: list[str], i: int) -> int:
    """A fence ends at its like or with the text; indented code at the last indented line."""
    fence = _FENCE.match(lines[i])
    if not fence:
        end = i + 1
        for j in range(i + 1, len(lines)):
            if _indent(lines[j]) > 3 and not _blank(lines[j]):
                end = j + 1
            elif not _blank(lines[j]):
                break
        return end
    mark, deepest = fence[2], _indent(lines[i]) + 3
    for j in range(i + 1, len(lines)):
        line = lines[j].strip()
        if line.startswith(mark) and not line.strip(mark[0]) and _indent(lines[j]) <= deepest:
            return j + 1
    return len(lines)


def _is_table(lines: list[str], i: int) -> bool:
    line = lines[i].strip()
    if len(line) > 2 and line[0] == line[-1] == "|":
        return True
    below = lines[i + 1] if i + 1 < len(lines) else ""
    return "|" in below and "-" in below and not below.strip("|:- \t\r")


def _table_end(lines: list[str], i: int) -> int:
    framed = lines[i].lstrip().startswith("|")
    for j in range(i + 1, len(lines)):
        if "|" not in lines[j] or (framed and not lines[j].lstrip().startswith("|")):
            return j
    return len(lines)


def _blank(line: str) -> bool:
    return not line or line.isspace()


def _indent(line: str) -> int:
    """Columns of white space at the start of a line; a tab counts 4."""
    if line[:1] not in (" ", "\t"):
        return 0
    return len(line[: len(line) - len(line.lstrip())].expandtabs(4))
