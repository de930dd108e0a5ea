"""A text is cut into passages that lose nothing, along its headings and blocks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from spadework.tools.text.passages import blocks, cut, heading_at, headings, paths
from tests.tools.text.markdownish import markdown


def cuts(text: str, max_chars: int = 1500) -> list[str]:
    return [text[start:end] for start, end in cut(text, max_chars)]


def test_a_heading_begins_a_passage_and_stays_with_its_text():
    text = "intro\n\n# One\n\ntext\n\n## Two\n\n### Three\n\ndeep\n\nmore"
    assert cuts(text) == ["intro", "# One\n\ntext", "## Two\n\n### Three\n\ndeep\n\nmore"]


def test_paragraphs_fill_a_passage_up_to_its_limit():
    assert cuts("a" * 40 + "\n\n" + "b" * 40 + "\n\n" + "c" * 40, 90) == [
        "a" * 40 + "\n\n" + "b" * 40,
        "c" * 40,
    ]


def test_a_long_paragraph_is_cut_after_a_sentence():
    text = "One two three four. " * 20
    assert {passage[-5:] for passage in cuts(text.strip(), 100)} == {"four."}


def test_a_long_paragraph_begins_in_the_passage_of_its_heading():
    assert cuts("# Head\n\n" + "word " * 100, 100)[0].startswith("# Head\n\nword")


def test_a_term_stays_with_its_definition():
    text = "intro " * 12 + "\n\n**FULL** (2)\n\n" + "Syncs at each moment. " * 3
    assert cuts(text.strip(), 100) == [
        ("intro " * 12).strip(),
        "**FULL** (2)\n\n" + ("Syncs at each moment. " * 3).strip(),
    ]


def test_a_line_that_introduces_a_list_stays_with_it():
    listed = "- The server must be shut down.\n- Single tables cannot be restored."
    text = "intro " * 8 + "\n\nThere are two restrictions:\n\n" + listed
    assert cuts(text, 100) == [("intro " * 8).strip(), "There are two restrictions:\n\n" + listed]


def test_a_bold_sentence_is_no_term():
    text = "intro " * 12 + "\n\n**It is so.**\n\n" + "Syncs at each moment. " * 3
    assert cuts(text.strip(), 100)[0].endswith("**It is so.**")


def test_a_long_list_is_cut_between_its_items():
    assert all(passage.startswith("- item") for passage in cuts("- item of a list\n" * 30, 100))


def test_code_and_tables_are_never_cut():
    code = "```\n" + "x = 1\n\n" * 50 + "```"
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 30 + "| 3 | 4 |"
    assert cuts(f"before\n\n{code}\n\nbetween\n\n{table}\n\nafter", 100) == [
        "before",
        code,
        "between",
        table,
        "after",
    ]


@given(markdown, st.integers(20, 200))
def test_passages_are_in_order_and_leave_out_only_white_space(text: str, most: int):
    at = 0
    for start, end in cut(text, most):
        assert at <= start < end
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()


@given(markdown, st.integers(20, 200))
def test_only_a_single_block_of_code_or_cells_is_longer_than_the_limit(text: str, most: int):
    whole = {(block.start, block.end) for block in blocks(text) if block.kind in ("code", "table")}
    for start, end in cut(text, most):
        assert end - start <= most or (start, end) in whole
        assert not any(a < edge < b for a, b in whole for edge in (start, end))


TEXT = """Before.

# Guide to **it**

## Install `x` on [Linux](http://x.org) ##

```
# no heading
```

Windows
-------

### Deep

# Use
"""


def test_headings_have_their_place_level_and_readable_text():
    found = headings(TEXT)
    assert [(level, text) for _, level, text in found] == [
        *((1, "Guide to it"), (2, "Install x on Linux"), (2, "Windows"), (3, "Deep"), (1, "Use"))
    ]
    assert all(
        TEXT[at:].startswith(start)
        for (at, _, _), start in zip(found, ["# G", "## I", "Win", "### D", "# U"], strict=True)
    )


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("Before", ""),
        ("# Guide", "Guide to it"),
        ("no heading", "Guide to it > Install x on Linux"),
        ("### Deep", "Guide to it > Windows > Deep"),
        ("# Use", "Use"),
    ],
)
def test_a_place_has_the_path_of_headings_above_it(place: str, path: str):
    assert heading_at(paths(headings(TEXT)), TEXT.index(place)) == path


def test_the_headings_of_many_places_are_found_in_no_long_time():
    text = "## A\n\nb\n\n" * 20_000
    before, known = time.process_time(), paths(headings(text))
    assert {heading_at(known, start) for start, _ in cut(text)} == {"A"}
    assert time.process_time() - before < 5
