"""What a model is shown of a page, and that quotes of it are found in the page."""

from __future__ import annotations

from hypothesis import given

from spadework.tools.blocks import blocks
from spadework.tools.display import scraps, without_targets
from spadework.tools.inline import plain
from spadework.tools.quotes import locate
from tests.tools.markdownish import markdown

TEXT = """# Ferries of [Aldermere](https://a.example/aldermere)

Share

- [Home](https://a.example/)
- [All ferries](https://a.example/ferries "ferries")

The [old *ferry*](https://a.example/old) carries 212 passengers ([source](https://a.example/s)).

**Fare**

Three crowns.

Speed:

| knots | day |
|---|---|
| 12 | [Monday](https://a.example/m) |

![a ferry](https://a.example/f.png)
"""


def shown(text: str) -> list[str]:
    found = blocks(text)
    return [
        without_targets(text[block.start : block.end])
        for block, scrap in zip(found, scraps(text, found), strict=True)
        if not scrap
    ]


def test_targets_of_links_pictures_and_scraps_are_not_shown() -> None:
    assert shown(TEXT) == [
        "# Ferries of Aldermere",
        "The old *ferry* carries 212 passengers (source).",
        "**Fare**",
        "Three crowns.",
        "Speed:",
        "| knots | day |\n|---|---|\n| 12 | Monday |",
    ]


def test_a_quote_of_what_is_shown_is_located_in_the_page() -> None:
    [quote] = [said for said in shown(TEXT) if "212" in said]
    start, end = locate(quote, TEXT) or (0, 0)
    assert TEXT[start:end] == (
        "The [old *ferry*](https://a.example/old) carries 212 passengers"
        " ([source](https://a.example/s))."
    )


def test_an_item_that_says_something_beside_its_links_keeps_its_list() -> None:
    text = (
        "- [Home](https://a.example/)\n- [Lamp](https://a.example/l) was lit in 1851 by the guild"
    )
    assert shown(text) == ["- Home\n- Lamp was lit in 1851 by the guild"]


def test_code_with_brackets_is_shown_as_it_is() -> None:
    text = "```python\nrow[0](https_target)\n```"
    assert shown(text) == [text]


def test_short_lines_beside_each_other_or_a_list_are_shown() -> None:
    for text in ("Full name\n\nRank", "Colours\n\n- the red of the old town"):
        assert "\n\n".join(shown(text)) == text


@given(markdown)
def test_what_is_shown_reads_as_the_text_does_but_for_pictures(text: str) -> None:
    if "![" not in text:
        assert plain(without_targets(text)) == plain(text)
