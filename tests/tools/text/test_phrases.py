"""What code says in a report is said in every language that has words for it, whole."""

from __future__ import annotations

from string import Formatter

import pytest

from spadework.tools.search.duckduckgo import DuckDuckGo
from spadework.tools.search.scholarly import Arxiv, OpenAlex, PubMed
from spadework.tools.search.web_services import Brave, SearXNG, Serper, Tavily
from spadework.tools.text.language import ENGLISH, Phrases, _headings, codes, language

ENGLISH_PHRASES = language("en").report.keys()
#: The providers, with the names that people know them by.
SERVICES = {
    Brave: "Brave", Serper: "Serper", Tavily: "Tavily", SearXNG: "SearXNG", PubMed: "PubMed",
    OpenAlex: "OpenAlex", Arxiv: "arXiv", DuckDuckGo: "DuckDuckGo",
}  # fmt: skip
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
    assert Phrases("de-AT").language == "de"
    assert Phrases("sw")("summary") == ENGLISH("summary") == "Summary"


def test_headings_are_said_in_more_languages_than_sentences() -> None:
    assert Phrases("nl")("summary") == "Samenvatting"
    assert Phrases("ar-EG")("sources") == "المصادر"
    assert Phrases("ar")("nothing") == ENGLISH("nothing")
    headings = _headings()
    assert all(own.keys() == headings["ar"].keys() <= ENGLISH_PHRASES for own in headings.values())
    assert not headings.keys() & {*TOLD}


def test_what_is_written_from_right_to_left_is_said_to_be() -> None:
    written = {code: Phrases(code).direction for code in ("ar", "he-IL", "fa", "ur", "de", "ja")}
    assert [code for code, way in written.items() if way == "rtl"] == ["ar", "he-IL", "fa", "ur"]


def test_what_is_told_of_is_no_pattern() -> None:
    assert ENGLISH("missing", gaps="{topic} {}").endswith("Missing: {topic} {}.")


@pytest.mark.parametrize("code", [code for code in TOLD if code != "en"])
@pytest.mark.parametrize(
    ("english", "kept"),
    [
        ("the documentation of 201 installed Python packages and the standard library", ["201"]),
        (
            "the documentation of 201 installed Python packages and the standard library"
            " (full text only for packages related to the question)",
            ["201"],
        ),
        ("the library wool", ["wool"]),
        ("the library wool (1 document)", ["wool", "1"]),
        ("the libraries a, b and other-notes (10 documents)", ["a, b", "other-notes", "10"]),
        ("The web cannot be reached, so only installed documentation is searched.", []),
        ("the sources of the MCP tool find", ["find"]),
        *((provider.describes, [shown]) for provider, shown in SERVICES.items()),
        ("Wikipedia (in the language of the question)", []),
    ],
)
def test_what_was_searched_is_said_in_the_language_of_the_report(
    code: str, english: str, kept: list[str]
) -> None:
    said = Phrases(code).scope(english)
    assert said != english
    assert [word for word in kept if word not in said] == []
    assert "the library" not in said
    assert "full text" not in said
    assert ENGLISH.scope(english) == english


def test_a_scope_without_a_phrase_is_said_as_it_is() -> None:
    assert Phrases("de").scope("our wiki") == "our wiki"
