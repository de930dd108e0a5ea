"""Parse Markdown into blocks and inline marks."""

from __future__ import annotations

import html
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from spadework.tools.text.terms import in_spaced_word
from spadework.visible import visible

Kind = Literal["heading", "paragraph", "list", "code", "table", "quote"]

ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)", re.MULTILINE)

#: Characters, apart from digits, that can start a block other than a paragraph or table.
_BEGINNINGS = frozenset("`~>#-*_+")
_FENCE = re.compile(r"([ \t]*)(`{3,}+(?!.*`)|~{3,})[ \t{.]*([^\s{}`]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_FIRST_ITEM = re.compile(r"^[ \t]*(?:[-*+]|1[.)])[ \t]+\S")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of whole lines, `markdown[start:end]`. `language` is that of a code fence, or ""."""

    kind: Kind
    start: int
    end: int
    language: str = ""


def blocks(markdown: str) -> list[Block]:
    """Return all blocks in order. Only blank lines lie outside them."""
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
    """Return the kind of block at line `i`. `inside` means within a list or paragraph."""
    line = lines[i]
    first = line.lstrip()[0]
    if not inside and _indent(line) > 3:
        return "code"
    if "|" in line and _is_table(lines, i):
        return "table"
    if first not in _BEGINNINGS and not first.isdecimal():
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
    for j in range(i + 1, len(lines)):
        if _blank(lines[j]) or _kind(lines, j, True) not in kinds:
            return j
    return len(lines)


def _code_end(lines: list[str], i: int) -> int:
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
    if line[:1] not in (" ", "\t"):
        return 0
    return len(line[: len(line) - len(line.lstrip())].expandtabs(4))


class Mark(NamedTuple):
    """Source characters `start:end`, which are rendered as `shown`."""

    start: int
    end: int
    shown: str = ""


class Pair(NamedTuple):
    """An opening mark `start:inner_start` and its closing mark `inner_end:end`."""

    start: int
    inner_start: int
    inner_end: int
    end: int


@dataclass
class Inline:
    """A text's inline markup. `code` lists the spans between backticks."""

    marks: list[Mark] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)

    def pair(self, opening: tuple[int, int], closing: tuple[int, int]) -> None:
        """Record an opening and a closing mark."""
        self.marks += [Mark(*opening), Mark(*closing)]
        self.pairs.append(Pair(*opening, *closing))


_SPECIAL = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~]|\\(?=\n))|(?P<code>`+)|(?P<emphasis>\*+|_+|~~)|(?P<open>!?\[)|(?P<close>\])"
    r"|(?P<link><(?:https?://|mailto:)[^\s<>]*>)|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_TARGET = re.compile(
    r"""\]\(\s*(?:<[^<>\n]{0,4000}>|(?:\\.|[^\s()\\]|\((?:\\.|[^\s()\\])*\)){0,4000})(?:\s+(?:"[^"]{0,1000}"|'[^']{0,1000}'))?\s*\)"""
)
#: Matches the end of a reference link. Its label must start like a name, so that the optional
#: parameters in `run([a][, b])` do not match.
_REFERENCE = re.compile(r"\]\[(?:[\w@#!][^\[\]\n]{0,199})?\]")
_QUOTE_PREFIX = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")

_MARKED = re.compile(r"[\\`*_~\[\]<>&]")

_NESTING = 20


def plain(text: str) -> str:
    """Return the text without Markdown marks and link targets."""
    shown, at = [], 0
    for mark in scan(text).marks:
        shown += [text[at : mark.start], mark.shown]
        at = mark.end
    return "".join([*shown, text[at:]])


def scan(text: str) -> Inline:
    """Return the inline markup of all blocks except code, in order."""
    found = Inline()
    for block in blocks(text) if _MARKED.search(text) else ():
        if block.kind == "code":
            continue
        if block.kind == "quote":
            prefixes = _QUOTE_PREFIX.finditer(text, block.start, block.end)
            found.marks += [Mark(*prefix.span()) for prefix in prefixes]
        for start, end in units(text, block):
            _Scanner(text, start, end, found).run()
    found.marks = _apart(sorted(found.marks))
    return found


def _apart(marks: list[Mark]) -> list[Mark]:
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def units(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the spans of list items (without bullets) or table rows, or else of the whole block."""
    if block.kind == "list":
        items = [m.span() for m in ITEM.finditer(text, block.start, block.end)]
        if not items or items[0][0] > block.start:
            items.insert(0, (block.start, block.start))
        yield from (
            (end, after)
            for (_, end), (after, _) in zip(items, [*items[1:], (block.end, 0)], strict=True)
            if end < after
        )
    elif block.kind == "table":
        at = block.start
        for row in text[block.start : block.end].split("\n"):
            yield at, at + len(row)
            at += len(row) + 1
    else:
        yield block.start, block.end


@dataclass
class _Open:
    """A run of emphasis marks that is not closed yet, with `count` marks left to match."""

    start: int
    count: int


class _Scanner:
    def __init__(self, text: str, start: int, end: int, found: Inline) -> None:
        self.text, self.start, self.end, self.found = text, start, end, found
        self.brackets: list[tuple[int, int]] = []
        self.emphasis: dict[str, list[_Open]] = {"*": [], "_": [], "~": []}
        self.ticks = _partners(text, start, end)

    def run(self) -> None:
        at = self.start
        while special := _SPECIAL.search(self.text, at, self.end):
            kind, (start, end) = str(special.lastgroup), special.span()
            at = getattr(self, f"_{kind}")(start, end)

    def _escape(self, start: int, end: int) -> int:
        self.found.marks.append(Mark(start, end, self.text[start + 1 : end]))
        return end

    def _entity(self, start: int, end: int) -> int:
        shown = visible(html.unescape(self.text[start:end]))
        if shown != self.text[start:end]:
            self.found.marks.append(Mark(start, end, shown))
        return end

    def _link(self, start: int, end: int) -> int:
        self.found.pair((start, start + 1), (end - 1, end))
        return end

    def _code(self, start: int, end: int) -> int:
        closing = self.ticks.get(start)
        if closing is None:
            return end
        after = closing + end - start
        self.found.pair((start, end), (closing, after))
        self.found.code.append((end, closing))
        return after

    def _open(self, start: int, end: int) -> int:
        self.brackets.append((start, end))
        return end

    def _close(self, start: int, end: int) -> int:
        opening = self.brackets.pop() if self.brackets else None
        target = _TARGET.match(self.text, start, self.end)
        if not target and opening and self._refers(opening, start):
            target = _REFERENCE.match(self.text, start, self.end)
        if not target:
            return end
        if opening:
            self.found.pair(opening, target.span())
        else:
            self.found.marks.append(Mark(*target.span()))
        return target.end()

    def _refers(self, opening: tuple[int, int], closing: int) -> bool:
        """Return whether `[words][name]` is a link, not citations (`[1][2]`)."""
        before, words = self.text[opening[0] - 1 : opening[0]], self.text[opening[1] : closing]
        return not in_spaced_word(before) and not words.strip().isdigit()

    def _emphasis(self, start: int, end: int) -> int:
        char, left, right = self.text[start], self._char_at(start - 1), self._char_at(end)
        opens = not right.isspace() and (_word(right) or not _word(left))
        closes = not left.isspace() and (_word(left) or not _word(right))
        if char == "_":
            opens, closes = opens and not _word(left), closes and not _word(right)
        elif _inside_word(left, right, end - start):
            return end
        left_over = self._pair(start, end) if closes else (start, end)
        if left_over[0] < left_over[1]:
            if opens:
                self.emphasis[char].append(_Open(left_over[0], left_over[1] - left_over[0]))
            elif closes and char == "*" and left_over[1] - left_over[0] == 2:
                self.found.marks.append(Mark(*left_over))
        return end

    def _pair(self, start: int, end: int) -> tuple[int, int]:
        """Match a run of closing emphasis marks with open runs, and return the unmatched span."""
        waiting = self.emphasis[self.text[start]]
        last = enumerate(reversed(waiting[-_NESTING:]))
        alike = next((n for n, opening in last if opening.count == end - start), 0)
        del waiting[len(waiting) - alike :]
        while waiting and start < end:
            opening = waiting[-1]
            count = min(opening.count, end - start)
            inner = opening.start + opening.count
            dunder = self.text[start] == "_" and count > 1
            if not (dunder and _NAME.fullmatch(self.text, inner, start)):
                self.found.pair((inner - count, inner), (start, start + count))
            start += count
            opening.count -= count
            if not opening.count:
                waiting.pop()
        return start, end

    def _char_at(self, at: int) -> str:
        return self.text[at] if self.start <= at < self.end else " "


def _partners(text: str, start: int, end: int) -> dict[int, int]:
    partners: dict[int, int] = {}
    last: dict[int, int] = {}
    for ticks in reversed(list(re.compile(r"`+").finditer(text, start, end))):
        length = ticks.end() - ticks.start()
        if length in last:
            partners[ticks.start()] = last[length]
        last[length] = ticks.start()
    return partners


def _inside_word(left: str, right: str, length: int) -> bool:
    """Return whether asterisks in a word are an operator (`2**3`), not emphasis (`**A**ccess`)."""
    figures = length == 1 or left.isdigit() or right.isdigit()
    return figures and in_spaced_word(left) and in_spaced_word(right)


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


Strength = Literal["em", "strong"]

_MEANT: dict[str, Strength] = {"*": "em", "_": "em", "**": "strong", "__": "strong"}
MARKS: dict[Strength, str] = {"em": "*", "strong": "**"}
#: Characters that every Markdown renderer allows next to emphasis marks.
_AROUND = frozenset(string.punctuation) - frozenset("*_~`\\") | frozenset("“”‘’„«»–—…")
_INSIDE = _AROUND | {"`"}


class Emphasis(NamedTuple):
    """Emphasized text: opening mark `start:inner_start`, closing mark `inner_end:end`, strength."""

    start: int
    inner_start: int
    inner_end: int
    end: int
    strength: Strength


def emphases(text: str, found: Inline) -> list[Emphasis]:
    """Return the emphasis that every renderer recognizes, without nested or touching marks."""
    ticks = {edge for span in found.code for edge in span}
    shown = [mark for mark in found.marks if not ticks & {mark.start, mark.end}]
    ends = {mark.end for mark in found.marks}
    begins = {mark.start for mark in found.marks}
    within = {mark.start for mark in shown}, {mark.end for mark in shown}
    kept: list[Emphasis] = []
    for pair in sorted(found.pairs):
        strength = _MEANT.get(text[pair.start : pair.inner_start])
        beside = pair.start in ends or pair.end in begins
        beside = beside or pair.inner_start in within[0] or pair.inner_end in within[1]
        apart = not beside and (not kept or pair.start > kept[-1].end)
        if strength and apart and _clear(text, pair):
            kept.append(Emphasis(*pair, strength))
    return kept


def _clear(text: str, pair: Pair) -> bool:
    before, after = text[max(0, pair.start - 1) : pair.start], text[pair.end : pair.end + 1]
    first, last = text[pair.inner_start], text[pair.inner_end - 1]
    apart = all(not one or one.isspace() or one in _AROUND for one in (before, after))
    within = all(one.isalnum() or one in _INSIDE for one in (first, last))
    return pair.inner_start < pair.inner_end and apart and within
