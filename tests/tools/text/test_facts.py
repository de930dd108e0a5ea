"""What code reads in a sentence."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from spadework.tools.text.facts import (
    borne_out,
    figures,
    is_negated,
    names,
    numbers,
    spelled_numbers,
    stem,
    stems,
)


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


@pytest.mark.parametrize(
    ("text", "plain"), [("10⁶", "10^6"), ("2½", "2 1/2"), ("10⁻³", "10^−3"), ("m²", "m2")]
)
def test_a_raised_or_broken_figure_makes_no_other(text: str, plain: str) -> None:
    assert numbers(text) == numbers(plain)


def test_numbers_in_words_are_digits() -> None:
    assert spelled_numbers("Three of twenty") == {"3", "20"}


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("am 3. Oktober 1990", "de", {"3", "m10", "1990"}),
        ("1er mars 2020", "fr", {"m3", "2020"}),
        ("3 de mayo de 2021", "es", {"3", "m5", "2021"}),
        ("em maio de 2021", "pt", {"m5", "2021"}),
        ("3 мая 2020 г.", "ru", {"3", "m5", "2020"}),
        ("2011年3月11日に12,000人", "ja", {"2011", "3", "m3", "11", "12000"}),
        ("２０２０年十一月", "zh", {"2020", "m11"}),
        ("on 4 May 2021", "de", {"4", "m5", "2021"}),
    ],
)
def test_months_and_numbers_are_read_in_their_language(
    text: str, language: str, found: set[str]
) -> None:
    assert numbers(text, language) == found


@pytest.mark.parametrize("text", ["1.234.567,5 Euro", "1 234 567,50 Euro", "1234567,5 Euro"])
def test_where_the_comma_is_for_decimals_numbers_have_one_spelling_too(text: str) -> None:
    assert "1234567.5" in numbers(text, "de")


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("drei von zwanzig", "de", {"3", "20"}),
        ("once casas, dix-sept", "es", {"11"}),
        ("dix-sept maisons", "fr", {"17"}),
        ("ten noorden van twaalf dorpen", "nl", {"12"}),
        ("three casas", "es", {"3"}),
        ("三人が十分に二十年", "ja", {"3", "20"}),
    ],
)
def test_numbers_in_words_are_read_in_their_language(
    text: str, language: str, found: set[str]
) -> None:
    assert spelled_numbers(text, language) == found


@pytest.mark.parametrize(
    ("code", "denial", "statement"),
    [
        ("de", "Das ist kein Haus.", "Das ist ein Haus."),
        ("fr", "Ce n’est pas une maison.", "C’est une maison."),
        ("es", "No es una casa.", "Es una casa."),
        ("it", "Non è una casa.", "È una casa."),
        ("pt", "Não é uma casa.", "É uma casa."),
        ("nl", "Het is geen huis.", "Het is een huis."),
        ("ru", "Это не дом.", "Это дом."),
        ("ja", "家ではありません。", "家です。"),
        ("zh", "这不是房子。", "这是不同的房子。"),
    ],
)
def test_denials_are_seen_in_their_language(code: str, denial: str, statement: str) -> None:
    assert is_negated(denial, code) and not is_negated(statement, code)


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
    assert is_negated(text) is denies


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


def test_figures_of_ranges_multiples_and_powers_are_read() -> None:
    found = figures("10.57%-14.09% faster, 1.3x-1.6x, 2-4x; 175B parameters, IPv6", "en")
    assert [figure.text for figure in found] == ["10.57", "14.09", "1.3", "1.6", "2", "4", "175"]
    [stated] = figures("175 billion", "en")
    assert borne_out(stated, found)
