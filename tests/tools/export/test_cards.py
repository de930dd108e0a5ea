"""What the marks of a report open, in the HTML report and on the page of a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lxml import html

from spadework.tools.export.html_report import to_html
from spadework.tools.export.section_blocks import INFERRED
from spadework.tools.text.language import ENGLISH
from spadework.values import Citation, Result
from tests.tools.export.results import HOSTILE, full
from tests.tools.export.rich import Words, on_the_page, rich

Drawn = Callable[[Result], html.HtmlElement]


def as_a_file(result: Result) -> html.HtmlElement:
    return html.document_fromstring(to_html(result))


both = pytest.mark.parametrize("drawn", [as_a_file, on_the_page])


def opened(page: html.HtmlElement, words: str) -> dict[str, html.HtmlElement]:
    """The cards that the marks of a sentence open, by what is shown of the marks."""
    said = next(s for s in page.find_class("said") if words in s.text_content())
    return {
        button.text: page.get_element_by_id(button.get("popovertarget"))
        for button in said.iter("button")
    }


@both
def test_a_mark_opens_its_quote_amid_the_words_around_it(drawn: Drawn) -> None:
    card = opened(drawn(rich()), "A sluice is a gate")["[1]"]
    text = " ".join(card.text_content().split())
    assert "1 The guide to sluices" in text
    assert "How it is used" in text
    assert "example.org · Ada & Bo · published 2025-05-06" in text
    [quote] = card.iter("blockquote")
    around = "Before it there is a sentence."
    assert quote.text_content() == f"{around} A sluice is a gate for water. {around}"
    assert [mark.text_content() for mark in quote.iter("mark")] == ["A sluice is a gate for water."]


@both
def test_a_conclusion_opens_its_premises(drawn: Drawn) -> None:
    cards = opened(drawn(rich()), "So it holds water.")
    assert list(cards) == ["[1]", "[2]", "[3]", INFERRED]
    premises = [mark.text_content() for mark in cards[INFERRED].iter("mark")]
    assert premises == ["A sluice is a gate for water.", "There are 40 sluices.", "Turn the crank."]
    titles = [title.text_content() for title in cards[INFERRED].find_class("title")]
    assert titles == [
        "Based on",
        "1 The guide to sluices",
        "2 A blog",
        "3 library://notes/my plan.md",
    ]
    assert [len(list(cards[f"[{n}]"].iter("mark"))) for n in (1, 2, 3)] == [1, 1, 1]


@both
def test_the_sign_of_a_conclusion_is_explained_once_where_there_is_one(drawn: Drawn) -> None:
    assert drawn(rich()).text_content().count(ENGLISH("inferred", sign=INFERRED)) == 1
    assert rich().report.count(ENGLISH("inferred", sign=INFERRED)) == 1
    assert INFERRED not in drawn(full()).text_content() + full().report


def test_the_page_tells_what_the_check_found_of_a_quote_outright() -> None:
    found = [("E1", "supported"), ("E1", "inference"), ("E2", "inference")]
    citations = tuple(
        Citation(sentence="So it holds water.", evidence_id=id_, verdict=verdict)
        for id_, verdict in found
    )
    cards = opened(
        on_the_page(rich().model_copy(update={"citations": citations, "mode": "model"})),
        "So it holds",
    )
    verdicts = [one.text_content() for one in cards[INFERRED].find_class("verdict")]
    assert verdicts == ["supported", "inference"]


@both
@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_around_a_quote_are_text(drawn: Drawn, words: str) -> None:
    page = drawn(rich(Words(words, words, words, words, words, words)))
    assert not page.xpath("//main//script | //img | //iframe | //b | //*[@onload] | //comment()")
    for link in page.iter("a"):
        assert link.get("href").startswith(("https://", "http://", "#", "/s/"))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(page.xpath("//@popovertarget")) <= set(ids)
