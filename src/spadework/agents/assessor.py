"""The assessor: judges, topic by topic, what is proven by quotes. It names them by their numbers,
and code cuts them from the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from spadework.agents.evidence.confirmation import confirm_fact
from spadework.agents.evidence.multi_hop import asks_for_a_relation
from spadework.agents.evidence.passages import Judgement, Numbered, PassageView, Spot
from spadework.agents.extractive import assessor as extractive
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most, within
from spadework.prompts import render
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.search.search_filters import MOST_SITES, domains
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

#: Searches that one assessment recommends at most, and results that one may ask (S4).
MOST_RECOMMENDATIONS = 5
LEAST_RESULTS, MOST_RESULTS = 3, 5
#: Quotes that the assessor is told to give at most.
MOST_QUOTES = 40
#: Likelier than not.
LIKELY = 0.5


class QuoteAnswer(Visible):
    """A quote: the numbers of its first and its last part, and what it says."""

    first: int
    last: int
    claim: str = ""


class GapQuery(Visible):
    """A search that would fill a gap."""

    query: str
    purpose: str
    priority: Priority
    max_results: int = MOST_RESULTS
    include_domains: list[str] = at_most(MOST_SITES, [])
    exclude_domains: list[str] = at_most(MOST_SITES, [])


class QualityAnswer(Visible):
    """The passages as a base for an answer, each 0 to 10."""

    accuracy: float = within(0, 10)
    completeness: float = within(0, 10)
    relevance: float = within(0, 10)
    source_quality: float = within(0, 10)
    clarity: float = within(0, 10)


class AssessmentAnswer(Visible):
    """How far a topic is answered by its passages."""

    covered: bool
    score: float
    evidence: list[QuoteAnswer] = at_most(MOST_QUOTES)
    gaps: list[str] = at_most(MOST_RECOMMENDATIONS)
    gap_queries: list[GapQuery] = at_most(MOST_RECOMMENDATIONS)
    quality: QualityAnswer


class LedgerAnswer(Visible):
    """How far a topic is answered by the ledger."""

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
    """The judgement of a topic on the passages `shown` and the evidence already `known` for it."""
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
            passages=numbered.told(),
            standard=model.settings.standard(plan.question_type),
        )
        answer = await model.ask("assessor", prompt, AssessmentAnswer, seconds=seconds)
        named = [numbered.spots(quote.first, quote.last, quote.claim) for quote in answer.evidence]
        spots = tuple(chain(*named))
        judgement = judgement_of(answer, shown, spots, proven=bool(spots or known))
        problems.extend(report_unnamed(topic.name, answer.evidence, numbered))
        if known or (judgement.spots and not leads_on(plan)):
            return judgement
        found = await asyncio.to_thread(extract)
        if not judgement.spots:
            # A model that quoted nothing real covers nothing; what code finds may still be cited
            # where that is likelier than not to answer.
            spots = found.spots if found.score > LIKELY else ()
            return replace(judgement, covered=False, score=0.0, spots=spots)
        return ask_for_leads(judgement, found)

    # Where nothing new is shown there is nothing to judge; where nothing was ever found, the model
    # is asked what else to search.
    asked = model if shown or not known else None
    judgement, fell = await first_of(asked, "assessor", topic.name, ask, extract)
    whole = await asyncio.to_thread(confirm_fact, plan, topic, judgement, shown)
    return whole, [*problems, *fell]


def judgement_of(
    answer: AssessmentAnswer | LedgerAnswer,
    shown: Sequence[PassageView],
    spots: tuple[Spot, ...] = (),
    *,
    proven: bool = True,
) -> Judgement:
    """The judgement that was answered, with its quotes; what is not `proven` is not covered."""
    return Judgement(
        covered=answer.covered and proven,
        score=min(1.0, max(0.0, answer.score)) if proven else 0.0,
        spots=spots,
        gaps=tuple(gap for gap in answer.gaps if not is_injection(gap))
        or (() if proven else ("Nothing that was read proves this topic.",)),
        recommendations=recommendations_of(answer.gap_queries, shown),
        quality=Quality(
            **{
                name: min(10.0, max(0.0, rated))
                for name, rated in answer.quality.model_dump().items()
            }
        ),
    )


def leads_on(plan: Plan) -> bool:
    """Whether what is asked for is told by its relation to something else: one fact is. A question
    of several topics asks about what it names.
    """
    return len(plan.topics) == 1 and asks_for_a_relation(plan.question)


def ask_for_leads(judgement: Judgement, found: Judgement) -> Judgement:
    """What the first pages of a question lead on to is looked up before it is answered: it is asked
    for by a relation to them, and code has not `found` it there.
    """
    if found.score > LIKELY:
        return judgement
    leads = tuple(r for r in found.recommendations if r.led_to)
    wanted = (*leads, *judgement.recommendations)[:MOST_RECOMMENDATIONS]
    return replace(judgement, covered=judgement.covered and not leads, recommendations=wanted)


def recommendations_of(
    queries: Sequence[GapQuery], shown: Sequence[PassageView]
) -> tuple[Recommendation, ...]:
    """The searches that are recommended, by priority, without those that are no words."""
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
            # A site to keep to that the passages name comes from a page that wants to be visited.
            include_domains=tuple(one for one in domains(q.include_domains) if one not in read),
            exclude_domains=tuple(domains(q.exclude_domains)),
        )
        for q in wanted[:MOST_RECOMMENDATIONS]
    )


def report_unnamed(subject: str, named: Sequence[QuoteAnswer], numbered: Numbered) -> list[Problem]:
    """The quotes that were named by numbers which nothing has."""
    return [
        Problem(
            stage="verifier",
            subject=subject,
            reason=f"A quote that stands in no page (¶{item.first}): “{item.claim[:120]}”",
            effect="It was thrown away and proves nothing.",
        )
        for item in named
        if numbered.passage(item.first) is None
    ]
