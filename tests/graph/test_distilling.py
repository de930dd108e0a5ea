"""Distilling: how a page is cut for a topic, and what is shown of its tables."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from spadework.graph.distilling import _cuts
from spadework.values import Page

ROWS = "".join(f"| Town{n} | {n * 7 + 1000:,} | a town by the sea that lives from its harbour | {1800 + n % 80} |\n" for n in range(20_000))


def page(text: str) -> Page:
    return Page(url="https://a.example/", fetched_at=datetime(2026, 3, 4, tzinfo=UTC), content_hash="h", chars=len(text))


def test_a_table_of_twenty_thousand_rows_is_cut_at_once() -> None:
    text = f"| Town | Inhabitants | Life | Lighthouse |\n|---|---|---|---|\n{ROWS}"
    began = time.perf_counter()
    made = _cuts(page(text), text, 0, 1_500)
    assert time.perf_counter() - began < 3
    assert all("| Town | Inhabitants | Life | Lighthouse |" in one.above for one in made)
    assert sum(one.text.count("\n") + 1 for one in made) == 20_000
