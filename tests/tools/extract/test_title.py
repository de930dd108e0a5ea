"""A page's title stays over its text, and the trees of the second stage are read as written."""

import pytest

from spadework.tools.extract import html
from spadework.tools.extract.page.scorer import compiled

TEXT = (
    "The winter tide reached the second step of the harbour office, and the keeper wrote the hour"
    " and the height of the water into the book that had lain there since the flood of the year"
    " before. "
)
MENU = "".join(f'<li><a href="/{n}">Part {n}</a></li>' for n in range(30))


@pytest.mark.parametrize("place", ["header", "div"])
def test_the_title_stays_where_it_stands_outside_of_the_text(place):
    page = (
        f'<body><ul class="menu">{MENU}</ul><{place} class="page-header"><h1>Tides in winter</h1>'
        f"</{place}><article><p>{TEXT}</p><p>{TEXT} It rained.</p><p>{TEXT} It"
        f" snowed.</p></article><footer><ul>{MENU}</ul></footer></body>"
    )
    read = html.extract(page, "https://harbour.example/tides").markdown
    assert read.startswith("# Tides in winter\n")
    assert "Part 3" not in read


def test_trees_are_added_up():
    odds = compiled(["0<1.5 -0.5 1<3 0.25 2", "1"], 2)
    assert [odds(1, 9), odds(2, 3), odds(2, 4)] == [0.5, 1.25, 3.0]
