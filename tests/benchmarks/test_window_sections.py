"""What a model is shown of the pages: whole sections around the best passages, within its room."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from benchmarks.window_sections import Stretch, scraps, windowed
from spadework.tools.text.markdown import blocks
from spadework.tools.text.passages import cut, without_targets
from tests.tools.text.markdownish import markdown

TEXT = """# Guide

What it is about, in one sentence.

## Install

Take the wheel and turn it slowly.

Then wait until the lamp is green.

- [Home](https://a.example/)

Do not turn it any further.

## Use

Press the lever with one hand.
"""


def words(text: str) -> int:
    return len(text.split())


def at(said: str, text: str = TEXT) -> Stretch:
    start = text.index(said)
    return Stretch("page", start, start + len(said))


def shown(*passages: Stretch, room: int = 100, text: str = TEXT) -> list[str]:
    return [text[s.start : s.end] for s in windowed(passages, {"page": text}, room, words)]


def test_a_passage_brings_its_section_with_the_heading_and_without_scraps() -> None:
    assert shown(at("Then wait")) == [
        "## Install\n\nTake the wheel and turn it slowly.\n\nThen wait until the lamp is green.",
        "Do not turn it any further.",
    ]


def test_where_the_section_finds_no_room_the_passage_stands_alone() -> None:
    assert shown(at("Then wait"), room=10) == ["Then wait until the lamp is green."]


def test_what_finds_no_room_leaves_it_to_the_next() -> None:
    assert shown(at("Then wait"), at("Press the"), room=6) == ["Press the lever with one hand."]


def test_a_page_is_shown_in_its_own_order_after_pages_with_better_passages() -> None:
    texts = {"page": TEXT, "other": "Another page says so."}
    passages = [Stretch("other", 0, 5), at("Press the"), at("What it is")]
    made = windowed(passages, texts, 100, words)
    assert [(s.content_hash, texts[s.content_hash][s.start : s.end][:8]) for s in made] == [
        ("other", "Another "),
        ("page", "# Guide\n"),
        ("page", "## Use\n\n"),
    ]


def test_of_a_long_section_the_surroundings_of_the_passage_are_shown() -> None:
    text = "\n\n".join(f"Paragraph {n} says something of the lamp." for n in range(500))
    [only] = shown(at("Paragraph 250", text), room=10_000, text=text)
    assert 5_000 < len(only) <= 6_000
    assert "Paragraph 250" in only


def test_of_a_long_table_the_rows_of_the_passage_are_shown() -> None:
    rows = "".join(f"| Town{n} | {n} | by the sea |\n" for n in range(1_000))
    text = f"| Town | Inhabitants | Where |\n|---|---|---|\n{rows}"
    [only] = shown(at("| Town500 ", text), room=600, text=text)
    assert "| Town500 |" in only
    assert "Town900" not in only


@given(markdown, st.integers(0, 60))
def test_never_more_is_shown_than_there_is_room_for(text: str, room: int) -> None:
    passages = [Stretch("page", *span) for span in cut(text, 100)]
    made = windowed(passages, {"page": text}, room, words)
    assert sum(words(without_targets(text[s.start : s.end])) for s in made) <= room
    assert all(first.end <= second.start for first, second in pairwise(made))


FERRIES = """# Ferries of [Aldermere](https://a.example/aldermere)

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


def said_of(text: str) -> list[str]:
    found = blocks(text)
    return [
        without_targets(text[block.start : block.end])
        for block, scrap in zip(found, scraps(text, found), strict=True)
        if not scrap
    ]


def test_targets_of_links_pictures_and_scraps_are_not_shown() -> None:
    assert said_of(FERRIES) == [
        "# Ferries of Aldermere",
        "The old *ferry* carries 212 passengers (source).",
        "**Fare**",
        "Three crowns.",
        "Speed:",
        "| knots | day |\n|---|---|\n| 12 | Monday |",
    ]


def test_an_item_that_says_something_beside_its_links_keeps_its_list() -> None:
    text = (
        "- [Home](https://a.example/)\n- [Lamp](https://a.example/l) was lit in 1851 by the guild"
    )
    assert said_of(text) == ["- Home\n- Lamp was lit in 1851 by the guild"]


def test_code_with_brackets_is_shown_as_it_is() -> None:
    text = "```python\nrow[0](https_target)\n```"
    assert said_of(text) == [text]


def test_short_lines_beside_each_other_or_a_list_are_shown() -> None:
    for text in ("Full name\n\nRank", "Colours\n\n- the red of the old town"):
        assert "\n\n".join(said_of(text)) == text
