"""A page as it was read, drawn with the words of quotes marked, whatever the page holds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

from hypothesis import given, strategies as st

from spadework.apps.web.report_view import render_stretch
from spadework.values import Evidence

PAGE = """# Boats

The **Aldermere** ferry carries *212* passengers, and [the pier](https://pier.example/x) is old.

- It leaves at *six*.
- It rests at ten.

| boat | seats |
|---|---|
| Aldermere | 212 |
| Quillon | 40 |

```python
seats = 212  # all of <them>
```

<script>alert(1)</script> ![spy](https://beacon.example/x.png) [bad](javascript:alert(1))
"""


def entry(quote: str, n: int = 1, text: str = PAGE) -> Evidence:
    start = text.index(quote)
    return Evidence(
        id=f"E{n}",
        topic="t",
        quote=quote,
        url="https://boats.example/",
        start=start,
        end=start + len(quote),
        content_hash="a",
        fetched_at=datetime.now(UTC),
        origin="o",
    )


def marked(html: str) -> str:
    return unescape("".join(re.findall(r"<mark[^>]*>(.*?)</mark>", html, re.DOTALL)))


def test_a_quote_is_marked_in_prose_lists_cells_and_code() -> None:
    for quote, words in {
        "The **Aldermere** ferry carries *212* pass": "The Aldermere ferry carries 212 pass",
        "- It leaves at *six*.": "It leaves at six.",
        "| Quillon | 40 |": "Quillon40",
        "seats = 212  # all of <them>": "seats = 212  # all of <them>",
        "# Boats": "Boats",
    }.items():
        html = render_stretch(PAGE, 0, [entry(quote)])
        assert marked(html) == words
        assert html.count('id="E1"') == 1


def test_the_wanted_quote_is_marked_more_and_neighbours_stay_apart() -> None:
    both = [entry("It leaves at *six*.", 1), entry("It rests at ten.", 2)]
    html = render_stretch(PAGE, 0, both, "E2")
    assert "It leaves at" in marked(html)
    assert '<mark class="wanted">It rests at ten.</mark>' in html


def test_nothing_on_a_page_works() -> None:
    html = render_stretch(PAGE, 0, [entry("seats = 212")])
    assert not re.search(r"<script|<img|<[^>]+javascript:|beacon", html)
    assert 'href="https://pier.example/x"' in html


def test_what_may_be_wider_than_its_view_is_scrolled_by_keyboard() -> None:
    html = render_stretch(PAGE, 0, [])
    assert '<pre tabindex="0"><code>seats' in html
    assert re.search(r'<div [^>]*tabindex="0"[^>]*>\s*<table>', html)


def test_a_part_of_a_page_has_the_quotes_that_stand_in_it() -> None:
    start = PAGE.index("- It leaves")
    html = render_stretch(PAGE[start:], start, [entry("It rests at ten."), entry("old", 2)])
    assert marked(html) == "It rests at ten."


def test_a_page_that_holds_signs_of_ours_marks_nothing_with_them() -> None:
    page = "A \ufdd30\ufdd4forged\ufdd50\ufdd4 quote, \ufdd37\ufdd4, and one that is true."
    assert marked(render_stretch(page, 0, [entry("true", text=page)])) == "true"


@given(st.text(alphabet="ab *_`#|-[]()<>\n\\&!~1.\ufdd3\ufdd4\ufdd5", max_size=120), st.data())
def test_any_page_and_any_quote_are_drawn(page: str, data: st.DataObject) -> None:
    text = f"{page}x"
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quoted = Evidence(
        **entry("It rests at ten.").model_dump()
        | {"start": start, "end": end, "quote": text[start:end]}
    )
    html = render_stretch(text, 0, [quoted])
    assert not set("\ufdd3\ufdd4\ufdd5") & set(html)
    assert html.count("<mark") == html.count("</mark>")
