"""Deep reading of many pages: several calls each read a share (map), then each topic is judged on
that (reduce).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spadework.agents.assessor import (
    LIKELY,
    LedgerAnswer,
    QuoteAnswer,
    ask_for_leads,
    judgement_of,
    leads_on,
    report_unnamed,
)
from spadework.agents.evidence.passages import Judgement, Numbered, PassageView, Spot
from spadework.agents.extractive import assessor as extractive
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.agents.report.material import line_of
from spadework.prompts import render
from spadework.values import Evidence, Plan, Problem, Topic, Visible

MOST_NAMED = 40


class NamedAnswer(QuoteAnswer):
    """A quote, and the numbers of the topics that it serves."""

    topics: list[int]


class ReadingAnswer(Visible):
    """What a share of the passages proves."""

    evidence: list[NamedAnswer] = at_most(MOST_NAMED)


class Served(NamedTuple):
    """A passage shown, and the indexes of the topics it was found for."""

    shown: PassageView
    topics: tuple[int, ...]


#: Findings by topic name.
Spots = Mapping[str, Sequence[Spot]]


async def read_share(
    model: Model, plan: Plan, topics: Sequence[Topic], share: Sequence[Served], *, seconds: float
) -> tuple[Spots, list[Problem]]:
    """Return the evidence in a share of the passages for each topic; by code if the model fails."""
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
    """Judge a topic by its ledger entries; by the passages shown if there are none, or the model
    fails.
    """

    def extract() -> Judgement:
        return extractive.assess(plan, topic, shown, own)

    async def ask(model: Model) -> Judgement:
        prompt = render(
            "ledger",
            question=plan.question,
            topic=topic,
            lines=[line_of(e) for e in own if e.kind != "columns"],
            standard=model.settings.standard(plan.question_type),
        )
        answer = await model.ask("assessor", prompt, LedgerAnswer, seconds=seconds)
        judgement = judgement_of(answer, shown)
        if not leads_on(plan):
            return judgement
        return ask_for_leads(judgement, await asyncio.to_thread(extract))

    return await first_of(model if own else None, "assessor", topic.name, ask, extract)
