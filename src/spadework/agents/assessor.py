"""Judge how well the evidence answers a topic. The model selects quotes by number."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from spadework.agents.evidence.expectation import standard_of
from spadework.agents.evidence.multi_hop import asks_for_a_relation
from spadework.agents.evidence.passages import Judgement, Numbered, PassageView, Spot
from spadework.agents.extractive import judge as extractive
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most, bounded
from spadework.agents.report.material import lines_of
from spadework.prompts import render
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.search.result_rows import MOST_SITES, domains
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import (
    Evidence,
    Plan,
    Priority,
    Problem,
    Quality,
    Recommendation,
    Topic,
    Visible,
)
from spadework.visible import one_line

#: The maximum number of searches to recommend, and the minimum and maximum number of hits to
#: request for each.
MOST_RECOMMENDATIONS = 5
LEAST_RESULTS, MOST_RESULTS = 3, 5
MOST_QUOTES = 40
LIKELY = 0.5
#: The maximum number of contradictions between sources to report, and of characters in each.
MOST_DIFFERENCES, DIFFERENCE_CHARS = 8, 250


class QuoteAnswer(Visible):
    """Numbers of a quote's first and last part (such as a sentence), and the claim it supports."""

    first: int
    last: int
    claim: str = ""


class GapQuery(Visible):
    """A search for evidence that a topic still lacks."""

    query: str
    purpose: str
    priority: Priority
    max_results: int = MOST_RESULTS
    include_domains: list[str] = at_most(MOST_SITES, [])
    exclude_domains: list[str] = at_most(MOST_SITES, [])


class QualityAnswer(Visible):
    """Ratings of the evidence, each from 0 to 10."""

    accuracy: float = bounded(0, 10)
    completeness: float = bounded(0, 10)
    relevance: float = bounded(0, 10)
    source_quality: float = bounded(0, 10)
    clarity: float = bounded(0, 10)


class AssessmentAnswer(Reply):
    """A judgement of how well passages answer a topic."""

    covered: bool
    score: float
    evidence: list[QuoteAnswer] = at_most(MOST_QUOTES)
    differences: list[str] = at_most(MOST_DIFFERENCES, [])
    gaps: list[str] = at_most(MOST_RECOMMENDATIONS)
    gap_queries: list[GapQuery] = at_most(MOST_RECOMMENDATIONS)
    quality: QualityAnswer


class LedgerAnswer(Reply):
    """A judgement of how well ledger entries (collected evidence) answer a topic."""

    covered: bool
    score: float
    gaps: list[str] = at_most(MOST_RECOMMENDATIONS)
    gap_queries: list[GapQuery] = at_most(MOST_RECOMMENDATIONS)
    quality: QualityAnswer


async def assess(
    model: Model | None,
    plan: Plan,
    topic: Topic,
    shown: Sequence[PassageView],
    known: Sequence[Evidence],
    *,
    seconds: float,
) -> tuple[Judgement, list[Problem]]:
    """Judge how well `shown` and `known` answer a topic, by rules if `model` is None or fails."""
    problems: list[Problem] = []
    numbered = Numbered(shown)

    def extract() -> Judgement:
        return extractive.assess(plan, topic, shown, known)

    async def ask(model: Model) -> Judgement:
        prompt = render(
            "assessor",
            question=plan.question,
            topic=topic,
            known=known,
            passages=numbered.as_prompt(),
            standard=standard_of(plan.question_type),
        )
        answer = await model.ask("assessor", prompt, AssessmentAnswer, seconds=seconds)
        told = [one for one in answer.differences if not is_injection(one)]
        differences = tuple(one_line(one, DIFFERENCE_CHARS) for one in told)
        named = [numbered.spots(quote.first, quote.last, quote.claim) for quote in answer.evidence]
        spots = tuple(chain(*named))
        judgement = judgement_of(answer, shown, spots, proven=bool(spots or known))
        judgement = replace(judgement, differences=differences)
        problems.extend(report_unnamed(topic.name, answer.evidence, numbered))
        if known or (judgement.spots and not leads_on(plan)):
            return judgement
        found = await asyncio.to_thread(extract)
        if not judgement.spots:
            # The model gave no valid quotes, so use the quotes found without it.
            spots = found.spots if found.score > LIKELY else ()
            return replace(judgement, covered=False, score=0.0, spots=spots)
        return ask_for_leads(judgement, found)

    # Skip the model only if there is evidence but no new passage. If there is neither, the model
    # can still suggest searches.
    asked = model if shown or not known else None
    judgement, fell = await first_of(asked, "assessor", topic.name, ask, extract)
    return judgement, [*problems, *fell]


def judgement_of(
    answer: AssessmentAnswer | LedgerAnswer,
    shown: Sequence[PassageView],
    spots: tuple[Spot, ...] = (),
    *,
    proven: bool = True,
) -> Judgement:
    """Convert a model's answer to a judgement. The topic is covered only if `proven` is true."""
    rated = {name: min(10.0, max(0.0, own)) for name, own in answer.quality.model_dump().items()}
    return Judgement(
        covered=answer.covered and proven,
        score=min(1.0, max(0.0, answer.score)) if proven else 0.0,
        spots=spots,
        gaps=tuple(gap for gap in answer.gaps if not is_injection(gap) and "://" not in gap)
        or (() if proven else ("Nothing that was read answers this topic.",)),
        recommendations=recommendations_of(answer.gap_queries, shown),
        quality=Quality(**rated),
        judge=answer.author,
    )


def leads_on(plan: Plan) -> bool:
    """Return whether a plan has one topic, and its question uses a relation ("director of X")."""
    return len(plan.topics) == 1 and asks_for_a_relation(plan.question)


def ask_for_leads(judgement: Judgement, found: Judgement) -> Judgement:
    """Add the searches for names that `found` recommends to the front of `judgement`, and mark the
    topic as not covered. Return `judgement` unchanged if there are none, or if `found` scores
    above LIKELY.
    """
    if found.score > LIKELY:
        return judgement
    leads = tuple(r for r in found.recommendations if r.led_to)
    wanted = (*leads, *judgement.recommendations)[:MOST_RECOMMENDATIONS]
    return replace(judgement, covered=judgement.covered and not leads, recommendations=wanted)


def recommendations_of(
    queries: Sequence[GapQuery], shown: Sequence[PassageView]
) -> tuple[Recommendation, ...]:
    """Return the recommended searches, most urgent first. Drop any with operators or addresses."""
    order: tuple[Priority, ...] = ("high", "medium", "low")
    wanted = sorted(
        (q for q in queries if in_words(q.query)), key=lambda q: order.index(q.priority)
    )
    read = "\n".join(s.text for s in shown).lower()
    return tuple(
        Recommendation(
            query=q.query.strip(),
            purpose=q.purpose,
            priority=q.priority,
            max_results=min(MOST_RESULTS, max(LEAST_RESULTS, q.max_results)),
            # Do not limit a search to domains that the passages mention, because the mention might
            # be advertising.
            include_domains=tuple(one for one in domains(q.include_domains) if one not in read),
            exclude_domains=tuple(domains(q.exclude_domains)),
        )
        for q in wanted[:MOST_RECOMMENDATIONS]
    )


def report_unnamed(subject: str, named: Sequence[QuoteAnswer], numbered: Numbered) -> list[Problem]:
    """Return a problem for each quote whose first part number is not in the passages."""
    return [
        Problem(
            stage="verifier",
            subject=subject,
            reason=f"No page contains the quote in ¶{item.first}: “{item.claim[:120]}”",
            effect="The quote was discarded.",
        )
        for item in named
        if numbered.passage(item.first) is None
    ]


MOST_NAMED = 40


class NamedAnswer(QuoteAnswer):
    """A quote, and the numbers of the topics that it helps to answer."""

    topics: list[int]


class ReadingAnswer(Visible):
    """The evidence that a model found in one batch of passages."""

    evidence: list[NamedAnswer] = at_most(MOST_NAMED)


class Served(NamedTuple):
    """A passage, and the indexes of the topics that it was found for."""

    shown: PassageView
    topics: tuple[int, ...]


#: Quotes by topic name.
Spots = Mapping[str, Sequence[Spot]]


async def read_share(
    model: Model, plan: Plan, topics: Sequence[Topic], share: Sequence[Served], *, seconds: float
) -> tuple[Spots, list[Problem]]:
    """Return the evidence that one batch of passages (`share`) contains for each topic."""
    lost: list[Problem] = []
    numbered = Numbered([one.shown for one in share])

    def extract() -> Spots:
        found: dict[str, Sequence[Spot]] = {}
        for n, topic in enumerate(topics):
            own = [one.shown for one in share if n in one.topics]
            judged = extractive.assess(plan, topic, own, ()) if own else None
            found[topic.name] = judged.spots if judged and judged.score > LIKELY else ()
        return found

    async def ask(model: Model) -> Spots:
        passages = [
            told | {"topics": [n + 1 for n in one.topics]}
            for told, one in zip(numbered.as_prompt(), share, strict=True)
        ]
        prompt = render(
            "reader", question=plan.question, topics=topics, passages=passages, most=MOST_NAMED
        )
        answer = await model.ask("assessor", prompt, ReadingAnswer, seconds=seconds)
        lost.extend(report_unnamed(plan.question, answer.evidence, numbered))
        found: dict[str, list[Spot]] = defaultdict(list)
        found_for = {one.shown: one.topics for one in share}
        for item in answer.evidence:
            if passage := numbered.passage(item.first):
                own = [n - 1 for n in item.topics if 1 <= n <= len(topics)]
                spots = numbered.spots(item.first, item.last, item.claim)
                for n in dict.fromkeys(own or found_for[passage]):
                    found[topics[n].name] += spots
        return found

    spots, fell = await first_of(model, "assessor", "a share of the pages", ask, extract)
    return spots, [*lost, *fell]


async def judge_ledger(
    model: Model,
    plan: Plan,
    topic: Topic,
    own: Sequence[Evidence],
    shown: Sequence[PassageView],
    *,
    seconds: float,
) -> tuple[Judgement, list[Problem]]:
    """Judge how well evidence `own` answers a topic. If it is empty, judge `shown` by rules."""

    def extract() -> Judgement:
        return extractive.assess(plan, topic, shown, own)

    async def ask(model: Model) -> Judgement:
        prompt = render(
            "ledger",
            question=plan.question,
            topic=topic,
            lines=lines_of(own),
            standard=standard_of(plan.question_type),
        )
        answer = await model.ask("assessor", prompt, LedgerAnswer, seconds=seconds)
        judgement = judgement_of(answer, shown)
        if not leads_on(plan):
            return judgement
        return ask_for_leads(judgement, await asyncio.to_thread(extract))

    return await first_of(model if own else None, "assessor", topic.name, ask, extract)
