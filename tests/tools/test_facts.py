"""What code reads in a sentence."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from spadework.tools.facts import names, negated, numbers, spelled, stem, stems


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,200 people", {"1200"}),
        ("1200 people", {"1200"}),
        ("3.50 and 3.5", {"3.5"}),
        ("from 1,204.0 on", {"1204"}),
        ("on 4 May 2021", {"4", "m5", "2021"}),
        ("May 4, 2021", {"4", "m5", "2021"}),
        ("you may go", set()),
        ("version 2.4.0", {"2.4.0"}),
        ("about 12% of it", {"12"}),
        ("at -3 degrees", {"-3"}),
    ],
)
def test_numbers_have_one_spelling(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_numbers_in_words_are_digits() -> None:
    assert spelled("Three of twenty") == {"3", "20"}


def test_names_are_capitals_within_a_sentence_and_words_with_inner_signs() -> None:
    assert names("The town of Port Aldermere uses GPT-5 and FastAPI. Its mayor left.") == {
        "port",
        "aldermere",
        "gpt-5",
        "fastapi",
    }


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("It is not open.", True),
        ("It isn't open.", True),
        ("It is open.", False),
        ("A knot.", False),
    ],
)
def test_denials_are_seen(text: str, denies: bool) -> None:
    assert negated(text) is denies


def test_words_share_their_stems() -> None:
    assert stems("installing installed install") == {"instal"}


def test_stems_are_right_from_many_threads_at_once() -> None:
    words = [
        f"{start}{n}{end}"
        for n in range(500)
        for start in ("connect", "gener")
        for end in ("ing", "ational", "fulness")
    ]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(stem, words * 4))
    stem.cache_clear()
    assert together == [stem(word) for word in words] * 4
