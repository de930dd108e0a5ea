"""The writer: makes sections of sentences from ledger entries, all sections and the summary in one
wave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.agents.extractive import writer as extractive
from spadework.agents.fallback import first_of
from spadework.agents.model import Model, at_most
from spadework.errors import BadReply
from spadework.prompts import render
from spadework.tools.urls import domain_of
from spadework.values import Evidence, Plan, Problem, Section, Sentence, Topic, Visible

#: Evidence shown for the summary: the first entries of every topic.
SUMMARY_PER_TOPIC = 3
#: Sentences of a section, and evidence of a sentence, that the writer is told to give at most.
MOST_SENTENCES, MOST_CITED = 20, 6


class SentenceAnswer(Visible):
    """A sentence and the evidence it rests on."""

    text: str
    evidence_ids: list[str] = at_most(MOST_CITED)
    code: bool


class SectionAnswer(Visible):
    """A section of the report."""

    sentences: list[SentenceAnswer] = at_most(MOST_SENTENCES)


async def write(
    model: Model | None, plan: Plan, ledger: Sequence[Evidence], *, seconds: float
) -> tuple[tuple[Section, ...], list[Problem]]:
    """The summary and a section for every topic that has evidence, in the order of the plan."""
    topics = [(topic, [e for e in ledger if e.topic == topic.name]) for topic in plan.topics]
    wave = [_section(model, plan.question, topic, own, seconds) for topic, own in topics if own]
    if model and len(wave) > 1:
        wave.insert(0, _summary(model, plan, ledger, seconds))
    done = await asyncio.gather(*wave)
    return tuple(section for section, _ in done), [p for _, problems in done for p in problems]


async def _section(
    model: Model | None, question: str, topic: Topic, evidence: list[Evidence], seconds: float
) -> tuple[Section, list[Problem]]:
    async def written(model: Model) -> Section:
        lines = _lines(evidence)
        prompt = render(
            "writer",
            question=question,
            heading=topic.name,
            ask=topic.question,
            evidence=lines,
            task="Write the section.",
        )
        answer = await model.ask("writer", prompt, SectionAnswer, seconds=seconds)
        return Section(heading=topic.name, sentences=_sentences(answer))

    return await first_of(
        model, "writer", topic.name, written, lambda: extractive.section(topic.name, evidence)
    )


async def _summary(
    model: Model | None, plan: Plan, ledger: Sequence[Evidence], seconds: float
) -> tuple[Section, list[Problem]]:
    async def written(model: Model) -> Section:
        evidence = [
            e
            for t in plan.topics
            for e in [e for e in ledger if e.topic == t.name][:SUMMARY_PER_TOPIC]
        ]
        task = "Write the summary: 2 to 5 sentences that answer the question directly. No code."
        prompt = render(
            "writer",
            question=plan.question,
            heading="Summary",
            ask="",
            evidence=_lines(evidence),
            task=task,
        )
        answer = await model.ask("writer", prompt, SectionAnswer, seconds=seconds)
        return Section(heading="Summary", kind="summary", sentences=_sentences(answer))

    return await first_of(
        model, "writer", "Summary", written, lambda: Section(heading="Summary", kind="summary")
    )


def _lines(evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    return [
        {
            "id": e.id,
            "domain": domain_of(e.url),
            "date": e.published_at.date().isoformat() if e.published_at else "",
            "quote": e.quote,
        }
        for e in evidence
    ]


def _sentences(answer: SectionAnswer) -> tuple[Sentence, ...]:
    made = tuple(
        Sentence(
            text=s.text.strip(), evidence_ids=tuple(dict.fromkeys(s.evidence_ids)), code=s.code
        )
        for s in answer.sentences
        if s.text.strip()
    )
    if not made:
        raise BadReply("The section has no sentences.")
    return made
