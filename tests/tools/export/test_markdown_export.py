"""The report as Markdown: what stands in it, and what cannot get into it."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from spadework.tools.export.markdown_report import (
    escape_markdown,
    fence,
    fragment_link,
    to_markdown,
)
from spadework.values import Evidence, Report, Section, Sentence, Source


def rendered(markdown: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).render(markdown)


def test_code_spans_stay_links_give_their_words_and_markup_is_text() -> None:
    assert (
        escape_markdown("Use `List<int>` of **the** [guide](http://x.org/a)")
        == "Use `List<int>` of the guide"
    )
    assert (
        escape_markdown("As shown [12] in <b>bold</b>")
        == "As shown \\[12\\] in \\<b\\>bold\\</b\\>"
    )


def test_nothing_is_struck_out_and_a_tilde_before_a_word_stays() -> None:
    assert escape_markdown("a ~~b c~~ and ~~d") == "a b c and ~\\~d"
    assert escape_markdown("in ~/notes, about ~5") == "in ~/notes, about ~5"


@given(st.text(max_size=300))
def test_no_text_becomes_markup(text: str) -> None:
    html = rendered(escape_markdown(text))
    assert not any(
        tag in html
        for tag in (
            "<script",
            "<img",
            "<a ",
            "<h1",
            "<ul",
            "<ol",
            "<blockquote",
            "<hr",
            "<em",
            "<strong",
        )
    )
    assert html.count("<p>") <= 1


@given(st.text(st.sampled_from("`~ab\n "), max_size=60))
def test_a_fence_holds_any_code(code: str) -> None:
    tokens = MarkdownIt("commonmark").parse(fence(code))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.strip("\n") == code.strip("\n")


def test_a_link_leads_to_the_quoted_words() -> None:
    quote = "one two three four five six seven eight nine ten, eleven"
    assert (
        fragment_link("https://x.org/p", quote)
        == "https://x.org/p#:~:text=one%20two%20three%20four%20five,seven%20eight%20nine%20ten%2C%20eleven"
    )
    assert (
        fragment_link("https://x.org/p", "| Port Aldermere | 48,212 | |")
        == "https://x.org/p#:~:text=Port%20Aldermere,48%2C212"
    )
    assert fragment_link("library://notes/a.md", quote) == "library://notes/a.md"


def test_sentences_carry_the_number_of_their_source_and_code_is_exact() -> None:
    code = "if a < b:\n    print(`a`)"
    ledger = {
        id_: Evidence(
            id=id_,
            topic="T",
            quote=quote,
            url=url,
            start=0,
            end=len(quote),
            content_hash="h",
            fetched_at=datetime.now(UTC),
            origin=url,
            kind=kind,
        )
        for id_, quote, url, kind in (
            ("E1", "It works.", "https://a.org/x", "text"),
            ("E2", code, "https://b.org/y", "code"),
        )
    }
    sources = [
        Source(
            n=n,
            url=url,
            title=f"T{n}",
            domain=url[8:13],
            level=0,
            relevance=0.5,
            trust=0.5,
            content_hash="h",
        )
        for n, url in enumerate(("https://a.org/x", "https://b.org/y"), 1)
    ]
    sentences = (
        Sentence(text="It works.", evidence_ids=("E1",)),
        Sentence(text=code, evidence_ids=("E2",), code=True, language="python"),
    )
    text = to_markdown(
        Report(title="Q?", sections=(Section(heading="T", sentences=sentences),)), ledger, sources
    )
    assert "It works. [1]\n\n```python\nif a < b:\n    print(`a`)\n```\n\n[2]" in text
    assert "1. [T1](https://a.org/x#:~:text=It%20works.) (a.org)" in text
