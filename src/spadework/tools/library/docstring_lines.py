"""Lines of a docstring: their indentation, and lists of arguments in Google's and numpy's style."""

from __future__ import annotations

import re
from itertools import pairwise
from textwrap import dedent

from spadework.tools.library.docstring_syntax import UNDERLINE

#: The narrowest page that docstrings are written for, and the share of early line ends that cannot
#: be an editor's doing.
_WIDTH = 60
_EARLY = 0.7

_ENTRY = re.compile(
    r"([*\w.,/\\ \[\]|-]{1,60}?)\s*(\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:(?!:)(?:\s+(.*)|$)"
)


def indent(line: str) -> int:
    """How many spaces a line begins with."""
    return len(line) - len(line.lstrip())


def dedent_lines(lines: list[str]) -> list[str]:
    """The lines moved left as far as they go together, without empty ones at the end."""
    return dedent("\n".join(lines)).rstrip().split("\n") if lines else []


def broken_on_purpose(lines: list[str]) -> bool:
    """Whether lines end where they are meant to: the next word mostly had room on them."""
    width = max(_WIDTH, *map(len, lines))
    early = sum(
        len(line) + 1 + len(after.split(" ", 1)[0]) <= width for line, after in pairwise(lines)
    )
    return len(lines) > 2 and early > _EARLY * (len(lines) - 1)


def entries(body: list[str]) -> list[tuple[str, list[str]]]:
    """Google's `name (type): text` or numpy's `name : type` with the lines below each, else []."""
    found: list[tuple[str, list[str]]] = []
    for line in body:
        if line.strip() and not line.startswith(" "):
            entry = _entry(line)
            if entry is None:
                return []
            found.append(entry)
        elif found:
            found[-1][1].append(line)
    return [(term, _below(lines)) for term, lines in found]


def _entry(line: str) -> tuple[str, list[str]] | None:
    mark = _ENTRY.match(line)
    if not mark:
        return (f"`{line.strip()}`", []) if re.fullmatch(r"[*\w., ]+", line) else None
    name, kind, rest = mark[1].strip().lstrip("\\"), mark[2] or "", mark[3] or ""
    if " :" in line[: mark.end()]:  # numpy: what follows is the type, the text stands below
        return f"`{name}`" + (f" ({rest})" if rest else ""), []
    return f"`{name}`" + (f" {kind}" if kind else ""), [rest] if rest else []


def _below(lines: list[str]) -> list[str]:
    """The lines of an entry: the first may stand beside the name, the others below it."""
    if lines and not lines[0].startswith(" "):
        return [lines[0], *dedent_lines(lines[1:])]
    return dedent_lines(lines)


class LineCursor:
    """Lines, and the one that is read next."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0

    def take_indented(self, margin: int) -> list[str]:
        """The lines from here on indented deeper than `margin`, dedented, empty ones between."""
        start = end = self.at
        for number in range(start, len(self.lines)):
            if not self.lines[number].strip():
                continue
            if indent(self.lines[number]) <= margin:
                break
            end = number + 1
        self.at = end
        return dedent_lines(self.lines[start:end])

    def take_below(self) -> list[str]:
        """The lines that are indented below this one, which is passed."""
        self.at += 1
        return self.take_indented(indent(self.lines[self.at - 1]))

    def is_underlined(self) -> bool:
        """Whether the next line of the same indentation underlines this one."""
        line, *rest = self.lines[self.at : self.at + 2]
        below = rest[0] if rest else ""
        mark = UNDERLINE.match(below.strip())
        if not mark or indent(below) != indent(line) or UNDERLINE.match(line.strip()):
            return False
        return len(below.strip()) >= min(3, len(line.strip()))
