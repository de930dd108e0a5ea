"""Judge without a model whether existing evidence answers a follow-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.evidence.expectation import holds_expected
from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive import lead
from spadework.agents.extractive.judge import Scored, judge_passages
from spadework.tools.ranking.relevance import Bm25
from spadework.tools.text.language import spoken
from spadework.values import Evidence, Page, Question


def recall_answer(
    question: Question, ledger: Sequence[Evidence], pages: Mapping[str, Page]
) -> tuple[tuple[str, ...], float]:
    """Return the ids of entries that answer a question, best first, and the fraction of its words
    found together. There are no ids if none answers it, or it asks several things or for news.
    `pages` maps content hashes to pages.
    """
    made = lead.plan(question, [])
    entries = [e for e in ledger if e.kind != "columns" and e.content_hash in pages]
    if made.freshness != "any" or len(made.topics) != 1 or not entries:
        return (), 0.0
    [topic] = made.topics
    codes = [spoken(e.quote) for e in entries]
    index = Bm25([f"{e.title} {e.heading} {e.quote}" for e in entries], codes)
    shown = [
        PassageView(pages[e.content_hash], e.start, e.quote, e.heading, score=score)
        for e, score in zip(entries, index.scores(topic.question), strict=True)
    ]
    opinion = judge_passages(topic.question, shown)
    found = list(dict.fromkeys(e for one in opinion.chosen for e in _of(one, entries)))
    enough = opinion.proven and holds_expected(topic, found)
    return tuple(e.id for e in found) if enough else (), round(opinion.share, 3)


def _of(one: Scored, entries: Sequence[Evidence]) -> list[Evidence]:
    at = one.candidate
    return [
        e
        for e in entries
        if e.content_hash == at.shown.page.content_hash and e.start < at.end and at.start < e.end
    ]
