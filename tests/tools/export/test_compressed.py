"""The answer for a calling model: what comes first, what gives way when there is little room, and
that it never takes more.
"""

from __future__ import annotations

import json

from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from spadework.apps.mcp.research_tools import structure_result
from spadework.tools.export.compressed import (
    FULL_CHARS,
    KEY_CHARS,
    REFERENCE_CHARS,
    Compressed,
    around,
    compress_result,
    shorten_report,
)
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.text.tokens import count
from spadework.values import (
    Citation,
    CoveredTopic,
    Evidence,
    Report,
    Result,
    Section,
    Sentence,
    Source,
)
from tests.tools.export.results import HOSTILE, HOSTILE_URLS, READ, hostile, source
from tests.tools.export.rich import rich

PLAIN = (
    "The harbour of Port Aldermere was dug in {n} by {n} men, and paid for with a tax on salted"
    " herring."
)


def page(n: int, paragraphs: int = 60) -> str:
    """A long page about number `n`, one paragraph of which is the evidence."""
    filler = (
        "Much else is told of the town by those who live there, and little of it has ever been"
        " written down by anybody at all. " * 3
    )
    parts = [f"{filler}Paragraph {place} of page {n}." for place in range(paragraphs)]
    parts.insert(paragraphs // 2, PLAIN.format(n=1800 + n))
    return "\n\n".join(parts)


def many(sources: int, sentences: int = 1) -> tuple[Result, dict[str, str]]:
    """A result with so many sources, the first cited most, and the texts of their pages."""
    texts, evidence, made, cited = {}, [], [], []
    for n in range(1, sources + 1):
        text, url = page(n), f"https://site{n}.example.org/harbour?id={n}"
        quote = PLAIN.format(n=1800 + n)
        texts[f"{n:064x}"] = text
        entry = Evidence(
            id=f"E{n}",
            topic="Harbour",
            quote=quote,
            url=url,
            start=text.index(quote),
            end=text.index(quote) + len(quote),
            content_hash=f"{n:064x}",
            fetched_at=READ,
            origin=url,
        )
        evidence.append(entry)
        made.append(
            source(n, url, f"Harbour {n}", f"site{n}.example.org").model_copy(
                update={"content_hash": f"{n:064x}"}
            )
        )
        cited += [Sentence(text=quote, evidence_ids=(entry.id,))] * sentences
    document = Report(
        title="How was the harbour dug?",
        sections=(Section(heading="Harbour", sentences=tuple(cited)),),
    )
    topics = (CoveredTopic(name="Harbour", covered=True, score=0.9, evidence=tuple(evidence)),)
    ledger = {e.id: e for e in evidence}
    result = Result(
        session_id="20260304-101112-a1b2c3",
        question=document.title,
        status="completed",
        mode="extractive",
        confidence=0.9,
        topics=topics,
        sources=tuple(made),
        report=to_markdown(document, ledger, made),
        document=document,
        citations=tuple(
            Citation(sentence=e.quote, evidence_id=e.id, verdict="supported") for e in evidence
        ),
    )
    return result, texts


def tokens(part: Compressed) -> int:
    """What a part of a result takes, told in JSON."""
    rows = [(source.n, source.url, content) for source, content in part.excerpts]
    return count(json.dumps([part.report, rows, part.left_out], ensure_ascii=False))


def fit(result: Result, texts: dict[str, str], limit: int) -> Compressed:
    """As much of a result as fits."""
    made = compress_result(result, texts, tokens, limit)
    assert tokens(made) <= limit
    return made


def test_the_report_comes_whole_then_three_levels_of_sources() -> None:
    result, texts = many(9)
    made = fit(result, texts, 20_000)
    assert made.report == result.report
    lengths = [len(content) for _, content in made.excerpts]
    assert [one.source.n for one in made.excerpts] == [*range(1, 10)]
    assert all(KEY_CHARS < length <= FULL_CHARS for length in lengths[:3])
    assert all(0 < length <= KEY_CHARS for length in lengths[3:6])
    assert all(0 < length <= REFERENCE_CHARS for length in lengths[6:])
    assert all(
        any(e.quote in content for e in result.topics[0].evidence) for _, content in made.excerpts
    )


def test_a_source_in_full_shows_whole_pieces_around_its_evidence_and_says_what_is_missing() -> None:
    result, texts = many(1)
    made = fit(result, texts, 20_000)
    [(_, shown)] = made.excerpts
    [evidence] = result.topics[0].evidence
    assert evidence.quote in shown
    whole = texts[evidence.content_hash]
    assert all(piece.strip() in whole for piece in shown.split("[…]"))
    assert made.left_out == (f"[1]: {len(shown)} of {len(whole)} characters are shown.",)


def test_no_code_of_a_report_is_cut_where_its_end_is_left_out() -> None:
    def code(text: str) -> list[str]:
        return [token.content for token in MarkdownIt().parse(text) if token.type == "fence"]

    report = rich().report
    whole = code(report)
    for room in range(len("# What is a sluice?"), len(report), 7):
        kept = code(shorten_report(report, room))
        assert kept == whole[: len(kept)]


def test_a_short_page_is_shown_whole_and_nothing_is_said_to_be_left_out() -> None:
    result, texts = many(1)
    short = {
        digest: text[evidence.start - 100 : evidence.end]
        for (digest, text), evidence in zip(texts.items(), result.topics[0].evidence, strict=True)
    }
    made = fit(result, short, 20_000)
    assert made.excerpts[0].content == next(iter(short.values()))
    assert made.left_out == ()


def test_with_less_room_the_references_go_first_then_the_full_texts_then_the_key_points_then_the_end_of_the_report() -> (  # noqa: E501
    None
):
    result, texts = many(20, sentences=3)
    seen = []
    for limit in (20_000, 7_000, 5_000, 4_000, 3_000, 1_500, 500):
        made = fit(result, texts, limit)
        whole = made.report == result.report
        long = [len(content) > REFERENCE_CHARS for _, content in made.excerpts]
        full = sum(len(content) > KEY_CHARS for _, content in made.excerpts)
        seen.append((whole, sum(long), full, len(made.excerpts)))
        assert any(said.startswith("Sources [") for said in made.left_out) == (len(long) < 20)
        assert any("end of the report" in said for said in made.left_out) == (not whole)
    assert (seen[0][0], *seen[0][2:]) == (True, 3, 20)
    assert [row[::2] for row in seen] == sorted((row[::2] for row in seen), reverse=True)
    assert seen[-1][0] is False
    assert seen[-1][2] == 0


def test_sources_on_which_more_sentences_rest_come_first() -> None:
    result, texts = many(5)
    last = result.topics[0].evidence[-1]
    again = tuple(
        Citation(sentence=f"Again {n}", evidence_id=last.id, verdict="supported") for n in range(3)
    )
    often = result.model_copy(update={"citations": result.citations + again})
    assert fit(often, texts, 20_000).excerpts[0].source.n == 5


def test_the_same_result_gives_the_same_answer_whatever_the_order_of_the_texts() -> None:
    result, texts = many(8)
    backwards = dict(reversed(texts.items()))
    assert fit(result, texts, 9_000) == fit(result, backwards, 9_000)


def test_without_the_page_a_source_gives_its_quotes() -> None:
    result, _ = many(2)
    assert [content for _, content in fit(result, {}, 20_000).excerpts] == [
        f"- {e.quote}" for e in result.topics[0].evidence
    ]


@settings(max_examples=60)
@given(
    words=st.text(max_size=3_000) | st.sampled_from(HOSTILE),
    url=st.sampled_from(HOSTILE_URLS) | st.text(max_size=400),
    text=st.text(max_size=2_000),
    times=st.integers(1, 40),
    limit=st.integers(1_600, 4_000),
)
def test_no_answer_takes_more_than_its_limit(
    words: str, url: str, text: str, times: int, limit: int
) -> None:
    bad = hostile(words, url)
    sources: tuple[Source, ...] = tuple(
        bad.sources[0].model_copy(update={"n": n, "url": f"{url}{n}"}) for n in range(1, times + 1)
    )
    wide = bad.model_copy(update={"sources": (*bad.sources, *sources)})
    made = structure_result(wide, {"h": text * times}, limit, "/some/where/" * 20)
    answer = json.dumps(made.model_dump(mode="json"), ensure_ascii=False)
    assert count(answer) <= limit
    answer.encode()


@given(
    st.text(st.sampled_from("ab.\n #`|-"), max_size=4_000),
    st.integers(0, 4_000),
    st.integers(0, 400),
    st.integers(200, 3_000),
)
def test_what_is_shown_around_a_place_is_never_longer_than_asked(
    text: str, start: int, length: int, most: int
) -> None:
    shown = around(text, [(start, start + length)], most)
    assert len(shown) <= most
    assert all(piece.strip() in text for piece in shown.split("[…]"))
