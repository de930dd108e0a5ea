"""What a run hands over."""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.graph.finish import settle_problems
from spadework.values import Page, Problem

URL = "https://a.example/x"


def page(*, stale: bool) -> Page:
    return Page(
        url=URL, level=0, fetched_at=datetime.now(UTC), content_hash="h", chars=9, stale=stale
    )


def test_a_page_that_was_read_in_the_end_is_no_problem() -> None:
    late = Problem(stage="read", subject=f"{URL}/", reason="It was late.")
    other = Problem(stage="read", subject="https://b.example/", reason="It was late.")
    search = Problem(stage="search", subject=URL, reason="It was late.")
    assert settle_problems([late, other, search, other], []) == [late, other, search]
    assert settle_problems([late, other, search], [page(stale=False)]) == [other, search]
    assert settle_problems([late], [page(stale=True)]) == [late], "that it is stale is one"
