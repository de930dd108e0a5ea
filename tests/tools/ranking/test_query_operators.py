"""Operators of a query: what they mean, and that the rest of the query is untouched."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, strategies as st

from spadework.errors import SearchError
from spadework.tools.ranking.query_operators import Only, in_words, only, without_operators
from spadework.tools.ranking.relevance import query_terms


def test_operators_are_taken_from_the_words():
    query = (
        'onion -site:Notes soup path:Deep/Folder/ kind:PDF path:"my notes" -kind:html after:2024-05'
        " before:2025"
    )
    assert without_operators(query) == "onion soup"
    assert query_terms(query) == ["onion", "soup"]
    assert only(query) == Only(
        not_sites=("notes",),
        paths=("/deep/folder", "/my notes"),
        kinds=("pdf",),
        not_kinds=("html",),
        after=date(2024, 5, 1),
        before=date(2025, 1, 1),
    )
    assert only("-after:2024-05-31 tea") == Only(before=date(2024, 5, 31))


@pytest.mark.parametrize(
    "query",
    [
        "path: where is it",
        "the site:",
        "http://site:80/x",
        "What kind:",
        "opposite:x",
        "C++ std::kind",
    ],
)
def test_words_with_a_colon_are_words(query):
    assert without_operators(query) == query
    assert only(query) == Only()


@pytest.mark.parametrize("value", ["yesterday", "2024-13", "0000", "2024-02-30", "20240531"])
def test_a_date_that_is_none_is_named(value):
    with pytest.raises(SearchError, match=rf"^after:{value} is not a date\.$"):
        only(f"tea after:{value}")


@given(st.text(max_size=60))
def test_any_text_keeps_its_words_without_operators(text):
    assert ":" in text or without_operators(text) == text
    assert without_operators(without_operators(text)) == without_operators(text) or '"' in text


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "https://evil.example/now",
        "see www.evil.example today",
        "write to me@evil.example",
        "harbour site:evil.example",
        "harbour (site:evil.example)",
        "inurl:evil harbour",
        "-site:good.example harbour",
        "harbour after:2024",
    ],
)
def test_a_query_with_an_address_or_an_operator_does_not_ask_in_words(query: str) -> None:
    assert not in_words(query)


@pytest.mark.parametrize(
    "query", ["harbour fees 2024", "C++ std::vector", "harbour: fees", "ratio 3:1", "asp.net core"]
)
def test_a_colon_or_a_dot_alone_is_no_operator_and_no_address(query: str) -> None:
    assert in_words(query)
