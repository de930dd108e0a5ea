"""Binary Excel workbooks (xls, xlsb) as Markdown: each visible sheet as a table of values."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

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
from spadework.tools.extract.markdown_writer import blocks, not_shown, sheet_table, write_heading
from spadework.tools.extract.office.xlsx import MAX_SHEETS, Range, lapse, spread

#: What calamine raises, but for a panic of Rust, which is no Exception.
_FAULTS = (CalamineError, ValueError, OSError)
_Value = float | str | bool | date | datetime | time | timedelta | None


def extract_xls(body: bytes, url: str) -> Extracted:
    """Return a workbook's values. Raises Unreadable if damaged or locked."""
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(body)) as book:
            shown = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.visible == SheetVisibleEnum.Visible
            ]
            parts = [_sheet(book.get_sheet_by_name(name)) for name in shown[:MAX_SHEETS]]
    except PasswordError:
        raise Unreadable("The workbook is locked by a password.") from None
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
    for number, row in enumerate(sheet.to_python(skip_empty_area=True), first + 1):
        yield number, [""] * left + [_cell_text(value) for value in row]


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
