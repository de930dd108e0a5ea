"""The HTML report: what stands in it, and that nothing from outside becomes more than text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st
from lxml import html

from spadework.tools.export.html_report import to_html
from spadework.values import Part, Report, Result, Section, Sentence
from tests.tools.export.results import (
    CODE,
    DRAWN,
    EVERYWHERE,
    HOSTILE,
    HOSTILE_URLS,
    full,
    hostile,
    result,
    squeezed,
)
from tests.tools.export.rich import Words, rich

_TAGS = (
    "html head meta title link style body div header h1 h2 ul ol li aside span i a main section p"
    " pre code button bdi details summary blockquote footer mark h3 table thead tbody tr th td"
)
_ATTRIBUTES = (
    "lang charset http-equiv content name rel href class dir id aria-labelledby aria-hidden"
    " aria-label style type popover popovertarget popovertargetaction tabindex translate"
    " data-language target value role scope"
)


def parsed(result: Result) -> html.HtmlElement:
    return html.document_fromstring(to_html(result))


def test_everything_of_the_report_stands_in_it() -> None:
    text = squeezed(parsed(full()).text_content())
    assert [
        part for part in (*EVERYWHERE, *DRAWN) if part != "python" and squeezed(part) not in text
    ] == []
    states = (
        "Meaning answered · 3 quotes",
        "Use partly answered · 3 quotes",
        "Prices not answered · 0 quotes",
    )
    assert squeezed("".join(states)) in text
    assert "Nevercited" not in text


def test_a_marker_opens_the_quotes_of_its_sentence() -> None:
    page = parsed(full())
    said = next(s for s in page.find_class("said") if "Counts differ." in s.text_content())
    cards = [page.get_element_by_id(button.get("popovertarget")) for button in said.iter("button")]
    assert [button.text for button in said.iter("button")] == ["[1]", "[2]"]
    assert [[q.text_content() for q in card.iter("blockquote")] for card in cards] == [
        ["There are 40 sluices."],
        ["There are 52 sluices."],
    ]
    assert all(card.get("popover") is not None for card in cards)
    assert "example.org · read 2026-03-04" in cards[0].text_content()
    assert (
        cards[1].find(".//a").get("href")
        == "https://blog.example.net/a?b=1&c=2#:~:text=There%20are%2052%20sluices."
    )


def test_a_quote_reads_as_on_its_page_and_its_link_leads_to_those_words() -> None:
    card = next(c for c in parsed(full()).find_class("card") if "gate" in c.text_content())
    assert card.find("blockquote").text_content() == "A sluice is a gate for water."
    assert card.find(".//a").get("href").endswith("#:~:text=A%20sluice%20is%20a%20gate")
    assert "published 2025-05-06" in card.text_content()


def test_code_is_exact_and_lists_are_lists() -> None:
    page = parsed(full())
    section = next(s for s in page.iter("section") if s.find("h2").text_content() == "Use")
    assert section.find(".//pre").text_content() == CODE
    assert [item.text_content().split("\u202f")[0].strip() for item in section.find("ul")] == [
        "Turn the crank slowly.",
        "Close it again.",
    ]


def test_a_quoted_sentence_before_a_list_stands_once() -> None:
    one = full()
    said = [
        Sentence(text=f"There are {n} sluices.", evidence_ids=(id_,))
        for n, id_ in ((40, "E2"), (52, "E3"))
    ]
    parts = (Part(form="paragraph", takes=(1,), quoted=True), Part(form="bullets", takes=(1,)))
    summary = Section(heading="Summary", kind="summary", sentences=tuple(said), parts=parts)
    report = Report(title=one.question, sections=(summary,))
    document = parsed(result(report, one.topics, one.sources))
    section = document.xpath("//section")[0]
    shown = [" ".join(each.text_content().split()) for each in section.xpath("./p | ./ul/li")]
    assert [text.split(".")[0] for text in shown] == [
        "There are 40 sluices",
        "There are 52 sluices",
    ]


def test_coverage_leads_to_its_section() -> None:
    page = parsed(full())
    links = {
        a.text_content(): a.get("href")[1:]
        for a in page.find("body").iter("a")
        if a.get("href").startswith("#")
    }
    assert {
        name: page.get_element_by_id(id_).find("h2").text_content() for name, id_ in links.items()
    } == {"Meaning": "Meaning", "Use": "Use"}


def test_it_asks_for_nothing() -> None:
    page = parsed(full())
    assert not any(page.iter("script", "img", "iframe", "object", "embed", "form"))
    assert [link.get("href") for link in page.iter("link")] == ["data:,"]
    assert "url(" not in page.find(".//style").text
    assert "@import" not in page.find(".//style").text


def assert_harmless(result: Result) -> None:
    page = parsed(result)
    elements = [element for element in page.iter() if isinstance(element.tag, str)]
    assert {element.tag for element in elements} <= set(_TAGS.split())
    assert {name for element in elements for name in element.attrib} <= set(_ATTRIBUTES.split())
    assert page.xpath("//comment()") == []
    assert len(list(page.iter("style"))) == 1
    for link in page.iter("a"):
        assert link.get("href").startswith(("https://", "http://", "#"))
    for styled in page.xpath("//*[@style]"):
        assert styled.get("style") == "width: 100%"
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert set(page.xpath("//@popovertarget")) <= set(ids)


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_no_hostile_url_is_more_than_text(url: str) -> None:
    assert_harmless(hostile("words", url))


@pytest.mark.parametrize("words", HOSTILE)
def test_no_hostile_words_are_more_than_text(words: str) -> None:
    assert_harmless(hostile(words, "https://a.example/"))
    assert_harmless(rich(Words(words, words, words, words, words, words)))


@given(
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4).map("".join),
    st.sampled_from(HOSTILE_URLS) | st.text(max_size=40),
)
def test_nothing_is_injected(words: str, url: str) -> None:
    assert_harmless(hostile(words, url))


def test_a_report_that_is_written_from_right_to_left_says_so() -> None:
    result = full()
    arabic = result.document.model_copy(update={"language": "ar"})
    page = to_html(result.model_copy(update={"document": arabic}))
    assert '<html lang="ar" dir="rtl">' in page
    assert '<h2 id="sources">المصادر</h2>' in page


def test_a_report_speaks_its_language_throughout() -> None:
    result = full()
    german = result.document.model_copy(update={"language": "de"})
    page = to_html(result.model_copy(update={"document": german}))
    assert '<html lang="de" dir="ltr">' in page
    told = page.partition("</style>")[2]
    assert "Quellen" in told
    assert not re.search(
        r"Sources|Coverage|\d quotes?|Read it|Show |Close the|published|Made", told
    )
