"""Convert Excel files to Markdown, with one table per visible sheet."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import NamedTuple

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetVisibleEnum,
)

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import (
    MAX_COLUMNS,
    MAX_ROWS,
    blocks,
    not_shown,
    plain,
    sheet_table,
    write_heading,
)
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.package import Package, drawing_text
from spadework.tools.extract.xml import (
    Element,
    attribute,
    below,
    child,
    number,
    tag,
    text,
    xml_tree,
)

MAX_SHEETS = 50

#: Numbers of the built-in date formats.
_DATES = frozenset([*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)])
_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]")
#: Letters that mark a date format, except in quotes or brackets.
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
#: Number of the built-in elapsed-time format, and a pattern that recognises custom elapsed-time
#: formats.
_LAPSE, _LAPSES = 46, re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_ROW = re.compile(rb"<(?:\w+:)?row\b")
_PLACE = re.compile(r"([A-Z]{1,3})\d+")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s+ref=\"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})\"")
_MOST_MERGED, _MOST_ROWS = 2_000, 1_048_576
_DAY_ONE = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}


class Range(NamedTuple):
    """A range of merged cells. Columns are counted from 0 and rows from 1."""

    left: int
    top: int
    right: int
    bottom: int


def extract_xlsx(package: Package, url: str) -> Extracted:
    """Return a workbook's values and metadata. Raises Unreadable or TooLarge."""
    book = package.needed(package.main)
    relations = package.relations(package.main)
    every = below(book, "sheet")
    sheets = [sheet for sheet in every if attribute(sheet, "state", "visible") == "visible"]
    from_1904 = attribute(child(book, "workbookPr"), "date1904") in ("1", "true")
    values = _Values(package, from_1904=from_1904)
    parts = []
    for sheet in sheets[:MAX_SHEETS]:
        name = relations.get(attribute(sheet, "id"), "")
        xml = package.read(name)
        first, behind = _first_rows(xml)
        told = spread(values.rows(first), _merged(xml[len(first) :] or xml))
        rows = sheet_table(told, behind=behind)
        shown = [rows, *_sheet_drawings(package, package.relations(name))]
        head = write_heading(attribute(sheet, "name"), 2)
        parts.append(blocks([head, *shown]) if any(shown) else "")
    parts.append(not_shown(len(sheets) - MAX_SHEETS, "sheets"))
    return package.about(blocks(parts), kind="xlsx")


def _first_rows(xml: bytes) -> tuple[bytes, int]:
    behind = islice(_ROW.finditer(xml), MAX_ROWS, None)
    cut = next(behind, None)
    return (xml[: cut.start()], 1 + sum(1 for _ in behind)) if cut else (xml, 0)


class _Values:
    """Formats cell values as displayed, using shared strings and number formats."""

    def __init__(self, package: Package, *, from_1904: bool) -> None:
        self._what = package.what
        self._day_one = _DAY_ONE[from_1904]
        self._widest = 0
        strings = package.tree("xl/sharedStrings.xml")
        shared = below(strings, "si") if strings is not None else ()
        self._strings = [_string_text(element) for element in shared]
        self._dates = _date_styles(package.tree("xl/styles.xml"))

    def rows(self, xml: bytes) -> Iterator[tuple[int, list[str]]]:
        tree = xml_tree(xml, self._what) if xml.strip() else None
        for place, row in enumerate(below(tree, "row") if tree is not None else (), 1):
            yield number(attribute(row, "r"), most=_MOST_ROWS) or place, self._row(row)

    def _row(self, row: Element) -> list[str]:
        cells: dict[int, str] = {}
        following = 0
        for cell in row:
            column = _column(attribute(cell, "r"), following)
            following = column + 1
            if tag(cell) == "c":
                cells[column] = self._value(cell)
        width = max((column for column, value in cells.items() if value), default=-1) + 1
        # Do not cut a row that is wider than all rows before it. `sheet_table` needs its width to
        # count the columns that are not shown.
        shown = width if width > self._widest else min(width, MAX_COLUMNS)
        self._widest = max(self._widest, width)
        return [cells.get(column, "") for column in range(shown)]

    def _value(self, cell: Element) -> str:
        kind = attribute(cell, "t", "n")
        if kind == "inlineStr":
            return _string_text(child(cell, "is"))
        element = child(cell, "v")
        written = (element.text or "").strip() if element is not None else ""
        if kind == "s":
            place = number(written, most=len(self._strings))
            return self._strings[place] if written and place < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(written, written)
        return self._number(written, attribute(cell, "s", "0")) if kind == "n" else written

    def _number(self, written: str, style: str) -> str:
        """Format a stored number as a date, a time, or a number without rounding noise."""
        try:
            days = float(written)
            if style not in self._dates:
                return f"{days:.15g}"
            if self._dates[style] and days >= 1:
                return lapse(days * 86_400)
            moment = (self._day_one + timedelta(seconds=round(days * 86_400))).isoformat(" ")
        except (ValueError, OverflowError):
            return written
        return moment.removesuffix(" 00:00:00") if days >= 1 else moment[11:]


def lapse(seconds: float) -> str:
    """Return elapsed time as `HH:MM:SS`. The hours may exceed 24."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"


def spread(rows: Iterable[tuple[int, list[str]]], merged: Iterable[Range]) -> Iterator[list[str]]:
    """Yield a sheet's rows, repeating merged cells. A lone cell is not repeated in its own row."""
    coming = sorted(merged, key=lambda found: found.top, reverse=True)
    said: list[tuple[Range, str]] = []
    for at, cells in rows:
        own = sum(map(bool, cells))
        while coming and coming[-1].top <= at:
            found = coming.pop()
            shown = cells[found.left] if found.left < len(cells) else ""
            said += [(found, shown)] if shown and found.top == at else []
        said = [(found, shown) for found, shown in said if found.bottom >= at]
        for found, shown in said:
            if own > 1 or found.top < at:
                cells += [""] * (found.right + 1 - len(cells))
                cells[found.left : found.right + 1] = [shown] * (found.right + 1 - found.left)
        yield cells


def _column(place: str, following: int) -> int:
    found = _PLACE.fullmatch(place)
    column = 0
    for letter in found[1] if found else "":
        column = column * 26 + ord(letter) - 64
    return column - 1 if found else following


def _merged(xml: bytes) -> list[Range]:
    found = []
    for left, top, right, bottom in islice(_MERGED.findall(xml), _MOST_MERGED):
        columns = _column(left.decode() + "1", 0), _column(right.decode() + "1", 0)
        first, last = columns[0], min(columns[1], MAX_COLUMNS - 1)
        found.append(Range(first, int(top), last, int(bottom)))
    return [merged for merged in found if merged.left <= merged.right]


def _sheet_drawings(package: Package, relations: dict[str, str]) -> Iterator[str]:
    for name in relations.values():
        if "/drawings/drawing" in name and (root := package.tree(name)) is not None:
            inside = package.relations(name)
            yield from (
                drawing_text(package, inside, part) for part in below(root, "chart", "relIds")
            )
            yield from (plain(" ".join(text(box).split())) for box in below(root, "txBody"))
    threaded = any("/threadedComment" in name for name in relations.values())
    kind = "threadedComment" if threaded else "comment"
    for name in relations.values():
        if f"/{kind}" in name and (root := package.tree(name)) is not None:
            for comment in below(root, kind):
                yield plain(f"Comment on {attribute(comment, 'ref')}: {text(comment)}")


def _string_text(element: Element | None) -> str:
    parts = below(element, "t") if element is not None else ()
    return joined(
        (part.text or "", _place(part.getparent()))
        for part in parts
        if tag(part.getparent()) != "rPh"
    )


def _place(run: Element) -> Place:
    aligned = attribute(child(run, "rPr", "vertAlign"), "val")
    return {"superscript": Place.RAISED, "subscript": Place.LOWERED}.get(aligned, Place.LEVEL)


def _date_styles(styles: Element | None) -> dict[str, bool]:
    """Return the indices of cell styles for dates, mapped to whether they show elapsed time."""
    if styles is None:
        return {}
    dates = {str(number): number == _LAPSE for number in _DATES}
    for found in below(styles, "numFmt"):
        name, shown = (attribute(found, of) for of in ("numFmtId", "formatCode"))
        shown = shown.partition(";")[0]
        dates.pop(name, None)
        if _LAPSES.search(shown) or _DATE_LETTERS.search(_QUOTED.sub("", shown)):
            dates[name] = bool(_LAPSES.search(shown))
    formats = child(styles, "cellXfs")
    used = [attribute(found, "numFmtId") for found in formats] if formats is not None else []
    return {str(n): dates[number] for n, number in enumerate(used) if number in dates}


#: Exceptions that calamine raises, apart from Rust panics.
_FAULTS = (CalamineError, ValueError, OSError)
_Value = float | str | bool | date | datetime | time | timedelta | None


def extract_xls(body: bytes, url: str) -> Extracted:
    """Return an xls or xlsb workbook's values. Raises Unreadable."""
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(body)) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == SheetVisibleEnum.Visible
            ]
            parts = [_sheet(book.get_sheet_by_name(name)) for name in shown[:MAX_SHEETS]]
    except PasswordError:
        raise Unreadable("The workbook is protected by a password.") from None
    except BaseException as error:
        if not isinstance(error, _FAULTS) and type(error).__module__ != "pyo3_runtime":
            raise
        raise Unreadable(f"The workbook is damaged: {str(error)[:100].strip(' .')}.") from None
    parts.append(not_shown(len(shown) - MAX_SHEETS, "sheets"))
    return Extracted(title=file_name(url), markdown=blocks(parts), kind="xls")


def _sheet(sheet: CalamineSheet) -> str:
    merged = [
        Range(left, top + 1, right, bottom + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
    ]
    rows = sheet_table(spread(_rows(sheet), merged))
    return blocks([write_heading(sheet.name, 2), rows]) if rows else ""


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, list[str]]]:
    first, left = sheet.start or (0, 0)
    for row_number, row in enumerate(sheet.to_python(skip_empty_area=True), first + 1):
        yield row_number, [""] * left + [_cell_text(value) for value in row]


def _cell_text(value: _Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float() | int():
            return f"{value:.15g}"
        case datetime():
            return value.isoformat(" ").removesuffix(" 00:00:00")
        case timedelta():
            return lapse(value.total_seconds())
        case date() | time():
            return value.isoformat()
    return value
