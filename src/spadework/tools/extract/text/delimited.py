"""CSV and similar files as a Markdown table, with any delimiter."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, sheet_table

_SIGNS = ",;\t|"
#: Rows that decide the delimiter.
_SAMPLE = 30


def extract_delimited(text: str, url: str) -> Extracted:
    """Return a data table, cut to its first rows and columns."""
    lines = text.removeprefix("\ufeff").replace("\0", "")
    sign = max(_SIGNS, key=lambda sign: _agreement(lines, sign))
    rows = _Rows(lines, sign)
    shown = sheet_table(rows)
    return Extracted(title=file_name(url), markdown=blocks([shown, rows.damage]), kind="csv")


def _agreement(text: str, sign: str) -> int:
    """Return how many of the first rows have the same number of cells, over 1, with this sign."""
    widths = Counter(len(row) for row in islice(_Rows(text, sign), _SAMPLE) if row)
    return max((count for width, count in widths.items() if width > 1), default=0)


class _Rows:
    """The rows up to a cell too long for the standard library, as in damaged files: `damage`."""

    def __init__(self, text: str, sign: str) -> None:
        self.damage = ""
        self._reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign)

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from self._reader
        except csv.Error as error:
            self.damage = (
                f"… What stands behind line {self._reader.line_num:,} is not shown: {error}."
            )
