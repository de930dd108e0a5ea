"""The assessor: judges each topic's evidence. It names quotes by number, and code cuts them from
the page.
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
from spadework.agents.llm.structured_output import at_most, bounded
from spadework.prompts import render
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.search.search_filters import MOST_SITES, domains
from spadework.tools.text.markdown import one_line
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

#: Maximum searches recommended per assessment, and results each may ask for (S4).
MOST_RECOMMENDATIONS = 5
LEAST_RESULTS, MOST_RESULTS = 3, 5
MOST_QUOTES = 40
LIKELY = 0.5
#: Maximum differences between sources that are told, and characters of one.
MOST_DIFFERENCES, DIFFERENCE_CHARS = 8, 250


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

    accuracy: float = bounded(0, 10)
    completeness: float = bounded(0, 10)
    relevance: float = bounded(0, 10)
    source_quality: float = bounded(0, 10)
    clarity: float = bounded(0, 10)


class AssessmentAnswer(Visible):
    """How far a topic is answered by its passages."""

    covered: bool
    score: float
    evidence: list[QuoteAnswer] = at_most(MOST_QUOTES)
    differences: list[str] = at_most(MOST_DIFFERENCES, [])
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
    """Return the judgement of a topic on the passages `shown` and its evidence so far, `known`."""
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
            standard=model.settings.standard(plan.question_type),
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
            # A model without a real quote covers nothing; code's findings may still be cited if
            # they probably answer.
            spots = found.spots if found.score > LIKELY else ()
            return replace(judgement, covered=False, score=0.0, spots=spots)
        return ask_for_leads(judgement, found)

    # Without new passages there is nothing to judge; if nothing was ever found, the model is asked
    # what else to search.
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
    """Return the answered judgement with its quotes; without evidence (`proven`) it is not
    covered.
    """
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
    """Return whether the question asks for one fact by its relation to something else; with several
    topics it asks about what it names.
    """
    return len(plan.topics) == 1 and asks_for_a_relation(plan.question)


def ask_for_leads(judgement: Judgement, found: Judgement) -> Judgement:
    """Search what the first pages lead to before answering: the question asks for a relation to
    them, and code has not `found` the answer there.
    """
    if found.score > LIKELY:
        return judgement
    leads = tuple(r for r in found.recommendations if r.led_to)
    wanted = (*leads, *judgement.recommendations)[:MOST_RECOMMENDATIONS]
    return replace(judgement, covered=judgement.covered and not leads, recommendations=wanted)


def recommendations_of(
    queries: Sequence[GapQuery], shown: Sequence[PassageView]
) -> tuple[Recommendation, ...]:
    """Return the recommended searches by priority, without those that are not plain words."""
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
            # A site that only the passages name is suggested by a page that may be advertising
            # itself.
            include_domains=tuple(one for one in domains(q.include_domains) if one not in read),
            exclude_domains=tuple(domains(q.exclude_domains)),
        )
        for q in wanted[:MOST_RECOMMENDATIONS]
    )


def report_unnamed(subject: str, named: Sequence[QuoteAnswer], numbered: Numbered) -> list[Problem]:
    """Return a problem for each quote with an unknown number."""
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
