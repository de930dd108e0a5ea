"""The Markdown report, rendered: no value from outside becomes more than text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from lxml import html
from markdown_it import MarkdownIt

from spadework.tools.export.markdown_report import escape_markdown, fragment_link, to_markdown
from spadework.values import Report, Result, Section, Sentence
from tests.tools.export.results import (
    EVERYWHERE,
    HOSTILE,
    HOSTILE_URLS,
    evidence,
    full,
    hostile,
    result,
    source,
    squeezed,
)
from tests.tools.export.rich import Words, rich

_GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def rendered(of: Result) -> html.HtmlElement:
    return html.document_fromstring("<div>" + _GITHUB.render(of.report) + "</div>")


def assert_harmless(of: Result) -> None:
    page = rendered(of)
    elements = [element for element in page.iter() if isinstance(element.tag, str)]
    assert {element.tag for element in elements} <= {
        "html",
        "body",
        "div",
        "h1",
        "h2",
        "h3",
        *("table", "thead", "tbody", "tr", "th", "td"),
        "p",
        "ul",
        "ol",
        "li",
        "a",
        "code",
        "pre",
    }
    assert {name for element in elements for name in element.attrib} <= {"href", "class"}
    assert page.xpath("//comment()") == []
    headings = [s for s in of.document.sections if of.document.heading_of(s)]
    assert len(list(page.iter("h1", "h2"))) == 1 + len(headings) + 1
    for link in page.iter("a"):
        assert link.get("href").startswith(("https://", "http://", "library://"))


def test_everything_of_the_report_stands_in_it() -> None:
    text = squeezed(rendered(full()).text_content() + full().report)
    assert [part for part in EVERYWHERE if squeezed(part) not in text] == []


def test_the_only_topic_of_a_question_is_not_said_twice() -> None:
    document = Report(
        title="Limits",
        sections=(
            Section(heading="Limits", sentences=(Sentence(text="None are known."),)),
            Section(heading="Limits", kind="limits", sentences=(Sentence(text="One page."),)),
        ),
    )
    page = rendered(result(document, (), ()))
    assert [heading.text_content() for heading in page.iter("h1", "h2")] == ["Limits", "Limits"]


def test_what_stands_before_the_only_topic_does_not_take_it_under_its_heading() -> None:
    document = Report(
        title="What is the Quillon?",
        sections=(
            Section(heading="Problems", kind="limits", sentences=(Sentence(text="No model."),)),
            Section(heading="What is the Quillon?", sentences=(Sentence(text="A radio."),)),
        ),
    )
    page = rendered(result(document, (), ()))
    told = [element.text_content() for element in page.iter("h2", "p", "li")]
    assert told[:4] == ["Problems", "No model.", "What is the Quillon?", "A radio."]


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


@given(
    st.text(st.sampled_from("`<b>0!*_[]()>\\\n ~&;"), max_size=40),
    st.text(st.sampled_from("`<b>0!*_[]()>\\\n ~&;"), max_size=40),
)
def test_marks_of_one_sentence_do_not_pair_with_those_of_the_next(first: str, second: str) -> None:
    page = html.document_fromstring(
        "<div>"
        + MarkdownIt("commonmark", {"html": True}).render(
            f"{escape_markdown(first)} [1] {escape_markdown(second)} [2]"
        )
        + "</div>"
    )
    assert {str(element.tag) for element in page.iter()} <= {"html", "body", "div", "p", "code"}
    assert page.text_content().count("[1]") == 1 or "[1]" in first + second


def test_a_line_that_begins_like_a_block_is_escaped_where_markdown_allows_it() -> None:
    assert [escape_markdown(text) for text in ("1. a", "12)", "#", "- c", "1.5 x", "2*3")] == [
        "1\\. a",
        "12\\)",
        "\\#",
        "\\- c",
        "1.5 x",
        "2\\*3",
    ]


def test_a_link_leads_to_the_words_as_a_page_shows_them() -> None:
    quote = "## `raise_for_status()` of the [guide](http://e.f)"
    assert (
        fragment_link("https://x.org/p", quote)
        == "https://x.org/p#:~:text=raise_for_status%28%29%20of%20the%20guide"
    )


@pytest.mark.parametrize(("language", "mark"), [("en", ", Deutsch)"), ("de", ")")])
def test_a_source_in_another_language_than_the_report_is_marked(language: str, mark: str) -> None:
    quote = "Die Maschine steht in dem Keller und wird von der Hausmeisterin gewartet."
    url = "https://keller.example/maschine"
    said = Sentence(text=quote, evidence_ids=("E1",))
    document = Report(
        title="Where is it?", sections=(Section(heading="A", sentences=(said,)),), language=language
    )
    quoted = evidence("E1", "A", quote, url)
    report = to_markdown(document, {"E1": quoted}, [source(1, url, "Maschine", "keller.example")])
    assert report.rstrip().endswith(f"(keller.example{mark}")


def test_a_source_is_listed_with_its_author_or_the_first_of_many() -> None:
    url, said = "https://a.example/p", Sentence(text="Lit in 1887.", evidence_ids=("E1",))
    document = Report(title="When?", sections=(Section(heading="A", sentences=(said,)),))
    for author, shown in (
        ("Ada Roe", "Ada Roe"),
        ("Ada Roe and Tom Vane and Jo May", "Ada Roe et al."),
    ):
        quoted = evidence("E1", "A", "Lit in 1887.", url).model_copy(update={"author": author})
        report = to_markdown(document, {"E1": quoted}, [source(1, url, "Lamp", "a.example")])
        assert report.rstrip().endswith(f"({shown}, a.example)")
