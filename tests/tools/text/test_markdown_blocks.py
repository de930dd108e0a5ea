"""The blocks of a Markdown text stand where the scanner says, whatever the text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from spadework.tools.text.markdown import blocks
from tests.tools.text.markdownish import markdown


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text)]


def test_every_kind_is_known_by_its_lines():
    parts = [
        ("heading", "# Title"),
        ("paragraph", "Some words\nover two lines."),
        ("heading", "Underlined\n======="),
        ("list", "- one\n  - nested\n\n  second paragraph\n- two"),
        ("code", "```python\nx = 1\n\n# a comment\n```"),
        ("table", "| a | b |\n|---|:-:|\n| 1 | 2 |"),
        ("quote", "> said\nlazily\n> again"),
        ("table", "a | b\n--- | ---\n1 | 2"),
        ("paragraph", "* * *"),
        ("list", "1. first\n2. second"),
    ]
    assert kinds("\n\n".join(text for _, text in parts)) == parts


def test_blocks_need_no_blank_lines_between_them():
    text = "# Title\nwords\n```\ncode\n```\nmore\n> quote\n- item\n| a | b |"
    assert [kind for kind, _ in kinds(text)] == [
        "heading",
        "paragraph",
        "code",
        "paragraph",
        "quote",
        "list",
        "table",
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("```python\nx\n```", "python"),
        ("~~~ Bash extra words\nx\n~~~", "bash"),
        ("```{.c++ .numberLines}\nx\n```", "c++"),
        ("```\nx\n```", ""),
        ("    x", ""),
    ],
)
def test_code_knows_its_language(text: str, language: str):
    assert [(block.kind, block.language) for block in blocks(text)] == [("code", language)]


def test_code_keeps_what_looks_like_markdown():
    code = "````md\n# not a heading\n```\n- no list\n```\n\n| no | table |\n````"
    assert kinds(f"before\n\n{code}\n\nafter") == [
        ("paragraph", "before"),
        ("code", code),
        ("paragraph", "after"),
    ]


def test_code_in_a_list_is_code_and_the_list_goes_on():
    text = "1. install\n\n   ```sh\n   pip install x\n   ```\n\n   then\n2. run"
    assert kinds(text) == [
        ("list", "1. install"),
        ("code", "   ```sh\n   pip install x\n   ```"),
        ("list", "   then\n2. run"),
    ]


def test_an_open_fence_ends_with_the_text():
    assert kinds("```sh\nls\n\n# still code\n\n") == [("code", "```sh\nls\n\n# still code")]


def test_indented_code_keeps_its_indentation_and_blank_lines():
    assert kinds("words\n\n    a\n\n      b\n\nwords")[1] == ("code", "    a\n\n      b")


def test_deep_lines_after_a_paragraph_or_item_are_no_code():
    assert [
        kind for kind, _ in kinds("words\n    more words\n\n- item\n\n    more of the item")
    ] == ["paragraph", "list"]


def test_a_year_at_the_start_of_a_line_does_not_break_a_paragraph():
    assert kinds("It was in\n1999. Then it ended.") == [
        ("paragraph", "It was in\n1999. Then it ended.")
    ]


@given(markdown)
def test_blocks_are_in_order_and_leave_out_only_white_space(text: str):
    at = 0
    for block in blocks(text):
        assert not text[at : block.start].strip()
        assert at <= block.start < block.end
        assert text[block.start : block.end].strip()
        assert block.start == 0 or text[block.start - 1] == "\n"
        at = block.end
    assert not text[at:].strip()


@given(markdown)
def test_a_block_read_alone_is_the_same_block(text: str):
    for block in blocks(text):
        if block.kind in ("code", "table", "heading"):
            alone = blocks(text[block.start : block.end])
            assert [(b.start, b.end) for b in alone] == [(0, block.end - block.start)]


@pytest.mark.parametrize(
    "line",
    [
        "`" * 50_000 + "x`",
        "> " * 20_000,
        "- " * 20_000,
        " " * 50_000 + "x",
        "|" * 50_000,
        "* " * 30_000 + "x",
    ],
)
def test_hostile_lines_take_no_long_time(line: str):
    before = time.process_time()
    blocks(f"{line}\n{line}\n\n{line}")
    assert time.process_time() - before < 1


def test_two_megabytes_take_less_than_a_second():
    text = (
        "# Head\n\nA paragraph of words\nover two lines.\n\n- item\n- item\n\n```py\nx ="
        " 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 20_000
    )
    taken = []
    for _ in range(3):  # a busy machine inflates processor time, so the best run counts
        before = time.process_time()
        blocks(text)
        taken.append(time.process_time() - before)
    assert min(taken) < len(text) / 2e6
