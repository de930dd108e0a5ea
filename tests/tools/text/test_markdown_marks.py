"""Markdown's inline marks are told from the words that they stand around."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from spadework.tools.text.markdown import plain, scan
from tests.tools.text.markdownish import markdown


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        (
            "**bold**, *it*, __strong words__, _em_, ~~gone~~, ***both***",
            "bold, it, strong words, em, gone, both",
        ),
        ("**bold *and it* here**", "bold and it here"),
        ("**A**ccess and 这是**重点**内容", "Access and 这是重点内容"),
        ('[link *x*](http://x.org/a(b)c "title") ![alt](i.png)', "link x alt"),
        ("[words][ref] and [words][]", "words and words"),
        ("run([*title*][, *help*][, *to*])", "run([title][, help][, to])"),
        ("<https://x.org/a_b_c>", "https://x.org/a_b_c"),
        ("`a *b* \\c` and ``x`y``", "a *b* \\c and x`y"),
        (r"\*not it\*, \[12\], 1\. no item", "*not it*, [12], 1. no item"),
        ("AT&amp;T &lt;T&gt; &#8364;5 &bogus;", "AT&T <T> €5 &bogus;"),
        ("> a quote\n> of *two* lines", "a quote\nof two lines"),
        ("a hard\\\nbreak", "a hard\nbreak"),
    ],
)
def test_marks_are_removed(text: str, readable: str):
    assert plain(text) == readable


@pytest.mark.parametrize(
    "text",
    [
        "2*3*4 = 24 and 2 ** 3",
        "2**3**2",
        "*args and **kwargs",
        "snake_case_name and __init__ and _private",
        "5* hotel, price*",
        "a[0][1], [1][2] and [note]",
        "`open tick",
        "```\n**code** &amp; [x](y)\n```",
        "    *indented*",
        "x < y > z & a",
    ],
)
def test_signs_that_mean_something_stay(text: str):
    assert plain(text) == text


def test_marks_whose_partner_was_cut_off_are_still_marks():
    assert (
        plain("end of bold** and of a link](http://x.org) here") == "end of bold and of a link here"
    )


@given(markdown)
def test_marks_are_in_order_and_inside_the_text(text: str):
    inline, at = scan(text), 0
    for mark in inline.marks:
        assert at <= mark.start < mark.end <= len(text)
        at = mark.end
    for pair in inline.pairs:
        assert pair.start < pair.inner_start <= pair.inner_end < pair.end


@given(markdown)
def test_no_letter_or_digit_of_prose_is_lost_outside_link_targets(text: str):
    text = text.replace("](", "] (").replace("][", "] [")
    assert [c for c in plain(text) if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.text("ab \n1.,é中"))
def test_text_without_signs_stays_as_it_is(text: str):
    assert plain(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "*a ",
        "**a",
        "a** ",
        "[",
        "](",
        "](a",
        "`",
        "``a`",
        "_a",
        "![a](",
        "<http://",
        "&",
        "\\",
        '](x "',
        "*_",
    ],
)
def test_hostile_text_takes_no_long_time(piece: str):
    text = piece * (100_000 // len(piece))
    before = time.process_time()
    plain(text)
    assert time.process_time() - before < 2
