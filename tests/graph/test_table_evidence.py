"""What a quote of a table becomes in the ledger: whole rows, each with the names of its columns."""

from __future__ import annotations

import pytest

from spadework.graph.evidence import parts_of, pieces
from spadework.tools.text.page_text import PageText

COLUMNS = "| Town | Inhabitants | Area |"
TEXT = (
    f"# Towns\n\n{COLUMNS}\n|---|---|---|\n| Aldermere | 48,212 | 30 |\n| Kelling | 3,100 | 5"
    " |\n\n| Mayor | Ines |\n\n"
    "| ending | holds |\n|---|---|\n| .hrn | readings |\n| .hrx | stations |\n"
)


@pytest.mark.parametrize(
    ("quote", "entries"),
    [
        ("48,212 | 30", [(COLUMNS, "columns"), ("| Aldermere | 48,212 | 30 |", "row")]),
        ("Inhabitants | Area", []),
        (
            "48,212 | 30 |\n| Kelling | 3,100",
            [
                (COLUMNS, "columns"),
                ("| Aldermere | 48,212 | 30 |", "row"),
                ("| Kelling | 3,100 | 5 |", "row"),
            ],
        ),
        ("Ines", [("| Mayor | Ines |", "cells")]),
        (".hrx", [("| ending | holds |", "columns"), ("| .hrx | stations |", "cells")]),
        ("holds", [("| ending | holds |", "cells")]),
    ],
)
def test_a_part_of_a_table_is_kept_as_whole_rows(
    quote: str, entries: list[tuple[str, str]]
) -> None:
    start = TEXT.index(quote)
    parts = [
        part
        for first, last, block in pieces(PageText(TEXT), start, start + len(quote))
        for part in parts_of(PageText(TEXT), block, (first, last))
    ]
    assert [(TEXT[first:last], kind) for first, last, kind in parts] == entries
