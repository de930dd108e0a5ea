"""Write the Markdown blocks that all document readers use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

#: Maximum rows shown per sheet or data file.
MAX_ROWS = 5_000
MAX_COLUMNS = 100
#: Maximum characters shown per cell.
MAX_CELL = 2_000

_STARTS_BLOCK = re.compile(
    r"^(?=#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|`{3}|~{3}|(?:=+|-+|(?:[-*_] *){3,})\s*$|\|)", re.M
)
_STARTS_NUMBER = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.M)
_BACKTICKS = re.compile(r"`+")


def plain(text: str) -> str:
    """Return text as a paragraph, escaping anything that would start another block."""
    lines = "\n".join(line.strip() for line in text.strip().split("\n"))
    return _STARTS_NUMBER.sub(r"\1\\", _STARTS_BLOCK.sub(r"\\", lines))


def write_heading(text: str, level: int) -> str:
    """Return an ATX heading of level 1–6, or "" for empty text."""
    words = " ".join(text.split())
    if not words.endswith(("C#", "F#")):
        words = words.rstrip("#").rstrip()
    return f"{'#' * min(max(level, 1), 6)} {words}" if words else ""


def fence(code: str, language: str = "") -> str:
    """Return a fenced code block, with a fence longer than any backticks inside."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{code.removesuffix(chr(10))}\n{ticks}"


def code_span(code: str) -> str:
    """Return code as one line of inline code, or "" if the code is empty."""
    if "\n" in code:
        code = code.strip().replace("\r\n", " ").replace("\n", " ")
    if not code:
        return ""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    ticks = "`" * (longest + 1)
    edged = "`" in (code[0], code[-1]) or (code[0] == code[-1] == " " and code.strip())
    space = " " if edged else ""
    return f"{ticks}{space}{code}{space}{ticks}"


def item(text: str, marker: str = "-") -> str:
    """Return a list item, indenting its continuation lines."""
    indent = " " * (len(marker) + 1)
    first, *rest = text.split("\n")
    further = [indent + line if line else "" for line in rest]
    return "\n".join([f"{marker} {first}".rstrip(), *further])


def quote(text: str) -> str:
    """Return text as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a pipe table whose header is the first row, or "" if all cells are empty."""
    width = max((len(row) for row in rows), default=0)
    cells = [
        [" ".join(cell.replace("\\|", "|").replace("|", "\\|").split()) for cell in row]
        + [""] * (width - len(row))
        for row in rows
    ]
    if not any(cell for row in cells for cell in row):
        return ""
    head, *body = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([head, "|" + " --- |" * width, *body])


class Grid:
    """Builds a table's rows, repeating a merged cell in every position that it covers."""

    def __init__(self) -> None:
        self._above: list[str] = []
        self._reaches: dict[int, int] = {}

    def row(self, cells: Iterable[tuple[str | None, int, int]]) -> list[str]:
        """Return the next row's texts, given each cell's text, column span and row span. A text of
        None repeats the cell above.
        """
        given, line = list(cells), list[str]()
        reaches: dict[int, int] = {}
        for text, across, down in given:
            self._fill(line)
            shown = self._stands_above(len(line)) if text is None else text
            reaches |= dict.fromkeys(range(len(line), len(line) + across), down)
            again = "" if len(given) == 1 and not line else shown
            line += [shown, *[again] * (across - 1)]
        self._fill(line)
        reached = self._reaches | reaches
        self._reaches = {column: rows - 1 for column, rows in reached.items() if rows > 1}
        self._above = line
        return line

    def _fill(self, line: list[str]) -> None:
        while self._reaches.get(len(line), 0) > 0:
            line.append(self._stands_above(len(line)))

    def _stands_above(self, column: int) -> str:
        return self._above[column] if column < len(self._above) else ""


def sheet_table(rows: Iterable[list[str]], *, behind: int = 0) -> str:
    """Return a sheet's first rows and columns as a table, or "" if they are empty. Lines below the
    table say how much was cut. `behind` is the number of rows that were not read.
    """
    source = iter(rows)
    widest = 0
    cut: list[list[str]] = []
    for row in islice(source, MAX_ROWS):
        filled = (place for place in range(len(row), 0, -1) if row[place - 1].strip())
        widest = max(widest, next(filled, 0))
        cut.append([_cell(cell) for cell in row[:MAX_COLUMNS]])
    kept = [row for row in cut if any(row)]
    used = sorted({column for row in kept for column, cell in enumerate(row) if cell})
    shown = table([[row[column] if column < len(row) else "" for column in used] for row in kept])
    rest = behind + sum(any(cell.strip() for cell in row) for row in source)
    return blocks([shown, not_shown(rest, "rows"), not_shown(widest - MAX_COLUMNS, "columns")])


def _cell(text: str) -> str:
    return text.strip() if len(text) <= MAX_CELL else text[:MAX_CELL].strip() + "…"


def not_shown(count: int, what: str, *, more: bool = False) -> str:
    """Return a line like "… 5 further rows are not shown.", or "" for 0. `more`: "5 or more"."""
    if count < 1:
        return ""
    one = what.removesuffix("ies") + "y" if what.endswith("ies") else what.removesuffix("s")
    parts = f"{one} is" if count == 1 else f"{what} are"
    return f"… {count:,}{' or more' if more else ''} further {parts} not shown."


def blocks(parts: Sequence[str]) -> str:
    """Join the non-empty blocks with blank lines."""
    return "\n\n".join(part for part in parts if part.strip())
