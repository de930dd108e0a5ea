"""The writer: makes sections of sentences from ledger entries, all sections in one wave, mends what
did not hold, and writes the summary last, from what did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from spadework.agents.extractive import writer as extractive
from spadework.agents.fallback import first_of
from spadework.agents.model import Model, at_most
from spadework.agents.quoting import quoted
from spadework.agents.told import entry_of
from spadework.agents.verifier import Finding
from spadework.errors import BadReply, BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.quotes import plain
from spadework.values import Evidence, Plan, Problem, Section, Sentence, Topic, Visible

#: Sentences of a section, and evidence of a sentence, that the writer is told to give at most.
MOST_SENTENCES, MOST_CITED = 20, 6
#: Entries of other sections that a writer is told of, and characters of each.
MOST_OTHERS, OTHER_CHARS = 40, 120


class SentenceAnswer(Visible):
    """A sentence and the evidence it rests on."""

    text: str
    evidence_ids: list[str] = at_most(MOST_CITED)
    inferred: bool = False
    code: bool = False


class SectionAnswer(Visible):
    """A section of the report."""

    sentences: list[SentenceAnswer] = at_most(MOST_SENTENCES)


class SummaryAnswer(SectionAnswer):
    """The summary of the report."""


class MendedAnswer(SentenceAnswer):
    """What stands in the place of a sentence; "" takes it away."""

    number: int


class MendingAnswer(Visible):
    """The sentences of a section that change."""

    sentences: list[MendedAnswer] = at_most(MOST_SENTENCES)


async def write(
    model: Model | None, plan: Plan, ledger: Sequence[Evidence], *, seconds: float
) -> tuple[tuple[Section, ...], list[Problem]]:
    """A section for every topic that has evidence, in the order of the plan."""
    topics = [(topic, [e for e in ledger if e.topic == topic.name]) for topic in plan.topics]
    done = await asyncio.gather(
        *(_section(model, plan, topic, own, ledger, seconds) for topic, own in topics if own)
    )
    return tuple(section for section, _ in done), [p for _, problems in done for p in problems]


async def _section(
    model: Model | None,
    plan: Plan,
    topic: Topic,
    evidence: list[Evidence],
    ledger: Sequence[Evidence],
    seconds: float,
) -> tuple[Section, list[Problem]]:
    async def written(model: Model) -> Section:
        others = [e for e in ledger if e.topic != topic.name and e.kind != "columns"]
        prompt = render(
            "writer",
            question=plan.question,
            language=plan.language,
            heading=topic.name,
            ask=topic.question,
            evidence=[entry_of(e) for e in evidence],
            others=[(e.claim or e.quote)[:OTHER_CHARS] for e in others[:MOST_OTHERS]],
            task="Write the section.",
        )
        answer = await model.ask("writer", prompt, SectionAnswer, seconds=seconds)
        return Section(heading=topic.name, sentences=_sentences(answer, evidence))

    return await first_of(
        model, "writer", topic.name, written, lambda: extractive.section(topic.name, evidence)
    )


async def mend(
    model: Model,
    question: str,
    section: Section,
    findings: Mapping[Sentence, Finding],
    evidence: Sequence[Evidence],
    *,
    seconds: float,
) -> tuple[dict[Sentence, Sentence | None], list[Problem]]:
    """What its writer puts in the place of sentences of a section that did not hold, or that lean
    on one of them; None takes a sentence away. {} where the model fails.
    """
    items = [
        {
            "text": plain(sentence.text),
            "ids": sentence.evidence_ids,
            "why": _why(findings.get(sentence)),
        }
        for sentence in section.sentences
    ]

    async def mended(model: Model) -> dict[Sentence, Sentence | None]:
        prompt = render(
            "mend",
            question=question,
            heading=section.heading,
            items=items,
            evidence=[entry_of(e) for e in evidence],
        )
        answer = await model.ask("writer", prompt, MendingAnswer, seconds=seconds)
        return {
            section.sentences[one.number - 1]: _sentence(one, evidence)
            for one in answer.sentences
            if 1 <= one.number <= len(section.sentences)
        }

    try:
        return await mended(model), model.news("writer")
    except (ModelError, BudgetSpent) as error:
        effect = "What its evidence does not bear out was taken out of the section."
        return {}, [*model.news("writer"), _failed(section.heading, error, effect)]


async def summarise(
    model: Model, plan: Plan, sections: Sequence[Section], *, seconds: float
) -> tuple[Section, list[Problem]]:
    """The summary of sections that hold; without sentences where the model fails."""
    prompt = render("summary", question=plan.question, language=plan.language, sections=sections)
    sentences: tuple[Sentence, ...] = ()
    failed: list[Problem] = []
    try:
        answer = await model.ask("writer", prompt, SummaryAnswer, seconds=seconds)
        sentences = _sentences(answer, ())
    except (ModelError, BudgetSpent) as error:
        failed = [_failed("summary", error, "The report has none.")]
    section = Section(heading="Summary", kind="summary", sentences=sentences)
    return section, [*model.news("writer"), *failed]


def _failed(subject: str, error: Exception, effect: str) -> Problem:
    return Problem(stage="writer", subject=subject, reason=str(error), effect=effect)


def _why(finding: Finding | None) -> str:
    if finding is None or finding.holds:
        return ""
    return f"{finding.verdict}. {finding.why}".strip()


def _sentences(answer: SectionAnswer, evidence: Sequence[Evidence]) -> tuple[Sentence, ...]:
    made = (_sentence(one, evidence) for one in answer.sentences)
    kept = tuple(sentence for sentence in made if sentence)
    if not kept:
        raise BadReply("The section has no sentences.")
    return kept


def _sentence(answer: SentenceAnswer, evidence: Sequence[Evidence]) -> Sentence | None:
    """The sentence, None where it has no words. Prose that is marked as code stays prose, and a
    code block that is not marked stays code.
    """
    text = answer.text.strip()
    if not text:
        return None
    ids = tuple(dict.fromkeys(answer.evidence_ids))
    blocks = [e for e in evidence if e.kind == "code"]
    if same := next((e for e in blocks if e.quote.split() == text.split()), None):
        return quoted(same)
    code = answer.code and any(e.id in ids or text in e.quote for e in blocks)
    language = next((e.language for e in blocks if e.id in ids), "") if code else ""
    return Sentence(
        text=text, evidence_ids=ids, inferred=answer.inferred, code=code, language=language
    )
