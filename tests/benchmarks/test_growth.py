"""No step over a text takes long for one that was made to hold it up."""

from __future__ import annotations

import time

import pytest

from benchmarks import growth
from spadework.visible import bounded

#: Inputs that took more than a second a step before its patterns were bounded, and their likes.
WORST = (
    *"[9«‘~", "![", "[a](", "founded by A ", "licensed under the ", "A and of the ", "5 m ", "1/2 ",
    "12:30 ", "“a ", "~~~\n", "\\\n", "a | b\n", "- ",
)  # fmt: skip
CHARS, MOST_SLOPE = 20_000, 1.5


@pytest.mark.timed
@pytest.mark.parametrize("name", growth.STEPS)
def test_the_worst_texts_are_read_in_no_long_time(name: str) -> None:
    step = growth.STEPS[name]
    for part in WORST:
        text = part * (CHARS // len(part))
        before = time.process_time()
        step(text)
        is_quick = time.process_time() - before < 1
        # A slow machine may take longer, but not four times as long for twice as much.
        assert is_quick or growth.measure(step, part, CHARS)[1] < MOST_SLOPE, part


def test_the_benchmark_finds_what_grows_with_the_square() -> None:
    found = growth.worst(lambda text: [text.count(char) for char in text], 12_000, ("a", "b"))
    assert found.slope > growth.MOST_SLOPE


@pytest.mark.parametrize("part", ["[", "9", "ab", "-=", "[a] "])
def test_no_run_of_one_kind_and_no_line_is_kept_without_end(part: str) -> None:
    kept = bounded(part * 100_000)
    assert max(map(len, kept.split("\n"))) <= 11_000
    assert (len(kept) < 100_000) == (" " not in part), "only what nobody can read is cut"


def test_what_is_meant_to_be_read_stays_as_it_is() -> None:
    text = "# A page\n\n" + "\n\n".join(
        "A paragraph of words, and of 48,212 figures." * 9 for _ in "ab"
    )
    assert bounded(text) == text
