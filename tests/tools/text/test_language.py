"""What a language's file says is whole and well formed."""

from __future__ import annotations

import pytest

from spadework.tools.text.language import codes, language

SPACED = [code for code in codes() if not language(code).unspaced]


def test_the_languages_that_are_known() -> None:
    assert codes() == ("de", "en", "es", "fr", "it", "ja", "nl", "pt", "ru", "zh")


@pytest.mark.parametrize("code", codes())
def test_a_language_has_months_and_numbers(code: str) -> None:
    known = language(code)
    assert set(known.months.values()) == {str(n) for n in range(1, 13)}
    assert {str(n) for n in range(21)} | {"30", "90", "100"} <= set(known.numbers.values())
    assert 80 <= len(known.stop) <= 190


@pytest.mark.parametrize("code", SPACED)
def test_words_are_lower_case_and_in_the_letters_of_the_language(code: str) -> None:
    known = language(code)
    allowed = {*"abcdefghijklmnopqrstuvwxyz.-'/º", *known.letters}
    words = known.stop | known.starters | known.months.keys() | known.numbers.keys()
    # A title and a state begin with a capital: "rep" and "ill" are words.
    words |= {w.lower() if w[0].isupper() else w for w in known.abbreviations | known.maybe_last}
    assert {word for word in words if not allowed.issuperset(word)} == set()


def test_a_region_is_no_other_language() -> None:
    assert language("de-AT") is not language("fr")
    assert language("DE-at") == language("de")


@pytest.mark.parametrize("code", ["ko", "", "xx", "../lang/de", "__init__"])
def test_a_language_without_a_file_is_known_by_its_code_alone(code: str) -> None:
    known = language(code)
    assert not known.stop and not known.stemmer and not known.cues
    assert not known.negations.search("not no nicht")
