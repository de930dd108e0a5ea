"""What can be done with a page that was loaded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import Unreadable
from spadework.tools.fetch.actions import (
    MOST_PLACES,
    Place,
    count_items,
    find_table,
    page_text,
    search_text,
)

PAGE = """<title>Boats</title><body><script>let a = 'boats'</script><h1>Boats for   hire</h1>
<h2>Prices</h2><table><tr><th>Boat</th><th>Price</th></tr><tr><td>Skiff</td><td>14 crowns</td></tr>
<tr><td>Ketch</td><td>90 crowns</td></tr></table>
<table><caption>Tides of March</caption><tr><th>Day</th><th>Metres</th></tr><tr><td>1</td><td>4.1</td></tr></table>
<ul class=boats><li>A red skiff<li>A blue skiff<li>A ketch, with <ul><li>two sails</ul></ul></body>"""  # noqa: E501


def test_text_is_that_of_the_page_or_of_what_is_selected():
    assert page_text(PAGE).startswith("Boats for hire\nPrices\nBoat")
    assert "let a" not in page_text(PAGE)
    assert page_text(PAGE, "h2") == "Prices"
    assert page_text(PAGE, ".none") == ""
    with pytest.raises(Unreadable, match=r"'h2\[\[' is no CSS selector"):
        page_text(PAGE, "h2[[")


def test_the_table_that_fits_the_words_is_found():
    prices = find_table(PAGE, "price of a ketch")
    assert prices
    assert (prices.caption, prices.rows[0], prices.rows[2]) == (
        "Prices",
        ("Boat", "Price"),
        ("Ketch", "90 crowns"),
    )
    tides = find_table(PAGE, "tides")
    assert tides
    assert tides.caption == "Tides of March"
    assert find_table(PAGE, "volcano") is None
    assert find_table("<p>no table", "tides") is None


@pytest.mark.parametrize(
    ("what", "selector", "number"),
    [
        ("skiffs", "", 2),
        ("skiff", "li", 2),
        ("", ".boats > li", 3),
        ("crowns", "", 2),
        ("volcano", "", 0),
        ("sails", "li", 1),
        ("red skiff", "", 1),
    ],
)
def test_items_are_counted(what, selector, number):
    assert count_items(PAGE, what, selector=selector) == number


def test_words_are_found_where_they_stand():
    text = "The Ketch\nis hired.  A ketch is kept."
    assert search_text(text, "ketch is") == [
        Place(4, "The Ketch is hired. A ketch is kept."),
        Place(23, "The Ketch is hired. A ketch is kept."),
    ]
    assert search_text(text, "volcano") == search_text(text, " ") == []
    assert len(search_text("a " * 1_000, "a")) == MOST_PLACES


@given(html=st.text(), words=st.text())
def test_nothing_breaks_it(html, words):
    page_text(html)
    find_table(f"<table><tr><td>{html}", words)
    count_items(f"<ul><li>{html}", words)
    assert all(place.start < len(html) for place in search_text(html, words))
