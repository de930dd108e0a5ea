"""What a service says about a failure becomes the right error, and dates and markup become
values.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, strategies as st

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.ranking.query_operators import about_now
from spadework.tools.search.provider import Service
from spadework.tools.search.result_rows import plain
from spadework.tools.search.scholarly import arxiv_rows
from spadework.tools.text.facts import moment

SERVICE = Service("Wiki", "http://127.0.1.21:9")
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("answer", "quota", "text"),
    [
        (
            {"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}},
            True,
            "results: You've exceeded your rate limit.",
        ),
        (
            {"error": "API rate limit exceeded", "count": "11"},
            True,
            "results: API rate limit exceeded.",
        ),
        ({"error": {"code": "badvalue"}}, False, "results: badvalue."),
        ({"query": []}, False, "Wiki returned no results."),
        ({"query": {"search": {}}}, False, "Wiki returned no results."),
        ([], False, "Wiki returned no results."),
    ],
)
def test_an_answer_without_results_is_an_error_in_the_words_of_the_service(
    answer: object, quota: bool, text: str
):
    with pytest.raises(SearchError) as caught:
        SERVICE.results(answer, "query", "search")
    assert isinstance(caught.value, QuotaSpent) is quota
    assert str(caught.value).endswith(text)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-03-04T12:00:00Z", NOON),
        ("2026-03-04T14:00:00+02:00", NOON),
        ("2026-03-04", NOON - timedelta(hours=12)),
        ("2026/03/04 12:00", NOON),
        ("Wed, 04 Mar 2026 12:00:00 GMT", NOON),
        ("Mar 4, 2026", NOON - timedelta(hours=12)),
        ("March 4, 2026", NOON - timedelta(hours=12)),
        ("2026 Mar", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2 days ago", NOON - timedelta(days=2)),
        ("an hour ago", NOON - timedelta(hours=1)),
        ("yesterday", None),
        ("", None),
        (20260304, None),
    ],
)
def test_dates_are_moments(text: object, date: datetime | None):
    assert moment(text, now=NOON) == date


@given(
    st.text()
    | st.from_regex(r"\d{1,5} (day|year)s? ago")
    | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ [+-]?\d*")
)
@example("Mon, 01 Jan 99999999999999999999 00:00:00 +0000")
def test_any_text_is_a_moment_with_a_time_zone_or_none(text: str):
    date = moment(text)
    assert date is None or date.tzinfo


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_rows_or_a_search_error(feed: bytes):
    with suppress(SearchError):
        assert isinstance(arxiv_rows(feed), list)


def test_markup_becomes_plain_text():
    assert plain("<b>a</b> &amp;\n 1 < 2 <br/>c") == "a & 1 < 2 c"
    assert plain(None) == ""


def test_some_queries_are_about_now():
    assert [
        about_now(text)
        for text in (
            "Latest news on httpx",
            "what happened this week",
            "renewsable",
            "history of news",
        )
    ] == [True, True, False, True]
