"""Tokens are counted whatever the text."""

from __future__ import annotations

import time

import pytest

from spadework.tools.text import tokens


def test_white_space_without_end_is_counted():
    assert tokens.count(f"a{' ' * 1_000_000}b") > 7_000
    assert tokens.first_tokens(f"a{' ' * 1_000_000}b", 1) == "a"


def test_a_beginning_has_so_many_tokens_and_is_the_text_where_that_is_short():
    assert tokens.first_tokens("one two three", 2) == "one two"
    assert tokens.first_tokens("one two", 2) == "one two"


@pytest.mark.timed
def test_long_white_space_that_ends_is_counted_in_no_long_time():
    tokens.count("a")
    before = time.process_time()
    assert tokens.count(f"x{' ' * 99_999}" * 8) > 6_000
    assert time.process_time() - before < 5
