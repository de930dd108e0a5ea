"""What code says in a report is said in every language that has words for it, whole."""

from __future__ import annotations

from string import Formatter

import pytest

from spadework.tools.text.language import ENGLISH, Phrases, codes, language

TOLD = [code for code in codes() if language(code).report]


def test_the_languages_of_reports() -> None:
    assert {"de", "en", "es", "fr"} <= {*TOLD}


@pytest.mark.parametrize("code", TOLD)
def test_a_language_says_all_that_is_said_in_english(code: str) -> None:
    english, own = language("en").report, language(code).report
    assert own.keys() == english.keys()
    assert {name for name in own if _fields(own[name]) != _fields(english[name])} == set()


def _fields(phrase: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(phrase) if name}


def test_a_region_speaks_its_language_and_what_is_not_known_english() -> None:
    assert Phrases("de-AT")("summary") == "Zusammenfassung"
    assert Phrases("de-AT").spoken == "de"
    assert Phrases("nl")("summary") == ENGLISH("summary") == "Summary"
    assert Phrases("nl").spoken == "en"


def test_what_is_told_of_is_no_pattern() -> None:
    assert ENGLISH("must_open", must="{topic} {}").startswith("“{topic} {}” is open")
