"""The writer: makes sections from ledger entries, all in one wave, mends what did not hold, and
writes the summary last, from what did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from spadework.agents.context import in_context
from spadework.agents.extractive import writer as extractive
from spadework.agents.fallback import first_of
from spadework.agents.marked import marked, section_of
from spadework.agents.model import Model, at_most
from spadework.agents.outline import Outline, Outlined
from spadework.agents.quoting import quoted
from spadework.agents.told import entry_of
from spadework.agents.verifier import Finding
from spadework.errors import BadReply, BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.quotes import plain
from spadework.values import Evidence, Plan, Problem, Section, Sentence, Visible

#: Sentences of a section that change at most.
MOST_MENDED = 20


class SectionAnswer(Visible):
    """A section of the report: Markdown with marks."""

    markdown: str


class SummaryAnswer(SectionAnswer):
    """The summary of the report."""


class MendedAnswer(Visible):
    """What stands in the place of a sentence, with its marks; "" takes it away."""

    number: int
    text: str


class MendingAnswer(Visible):
    """The sentences of a section that change."""

    sentences: list[MendedAnswer] = at_most(MOST_MENDED)


#: What stands in the place of sentences of a section; () takes one away.
Changes = dict[Sentence, tuple[Sentence, ...]]


async def write(
    model: Model | None, plan: Plan, outline: Outline, *, seconds: float
) -> tuple[tuple[Section, ...], list[Problem]]:
    """The sections of the outline, in its order."""
    done = await asyncio.gather(
        *(_section(model, plan, outline, section, seconds) for section in outline.sections)
    )
    return tuple(section for section, _ in done), [p for _, problems in done for p in problems]


async def _section(
    model: Model | None, plan: Plan, outline: Outline, section: Outlined, seconds: float
) -> tuple[Section, list[Problem]]:
    async def written(model: Model) -> Section:
        prompt = render(
            "writer",
            question=plan.question,
            language=plan.language,
            answer=outline.answer,
            heading=section.heading,
            shows=section.shows,
            form=section.form,
            columns=section.columns,
            words=section.words,
            evidence=[entry_of(e) for e in section.evidence],
            others=[
                f"{other.heading}: {other.shows}"
                for other in outline.sections
                if other is not section
            ],
        )
        answer = await model.ask("writer", prompt, SectionAnswer, seconds=seconds)
        return _with_code(section_of(section.heading, answer.markdown), section.evidence)

    return await first_of(
        model,
        "writer",
        section.heading,
        written,
        lambda: extractive.section(section.heading, section.evidence),
    )


async def mend(
    model: Model,
    question: str,
    section: Section,
    findings: Mapping[Sentence, Finding],
    evidence: Sequence[Evidence],
    *,
    seconds: float,
) -> tuple[Changes, list[Problem]]:
    """What its writer puts in the place of sentences of a section that did not hold, or that lean
    on one of them. {} where the model fails.
    """
    told = in_context(section)
    items = [
        {
            "text": plain(told.get(sentence, sentence.text)),
            "ids": sentence.evidence_ids,
            "why": _why(findings.get(sentence)),
        }
        for sentence in section.sentences
    ]
    prompt = render(
        "mend",
        question=question,
        heading=section.heading,
        items=items,
        evidence=[entry_of(e) for e in evidence],
    )
    try:
        answer = await model.ask("writer", prompt, MendingAnswer, seconds=seconds)
    except (ModelError, BudgetSpent) as error:
        effect = "What its evidence does not bear out was taken out of the section."
        return {}, [*model.news("writer"), _failed(section.heading, error, effect)]
    return {
        section.sentences[one.number - 1]: _mended(one.text)
        for one in answer.sentences
        if 1 <= one.number <= len(section.sentences)
    }, model.news("writer")


async def summarise(
    model: Model, plan: Plan, sections: Sequence[Section], *, seconds: float
) -> tuple[Section, list[Problem]]:
    """The summary of sections that hold; without sentences where the model fails."""
    prompt = render("summary", question=plan.question, language=plan.language, sections=sections)
    section = Section(heading="Summary", kind="summary")
    try:
        answer = await model.ask("writer", prompt, SummaryAnswer, seconds=seconds)
    except (ModelError, BudgetSpent) as error:
        return section, [*model.news("writer"), _failed("summary", error, "The report has none.")]
    told = section_of(section.heading, answer.markdown)
    return told.model_copy(update={"kind": "summary"}), model.news("writer")


def _mended(text: str) -> tuple[Sentence, ...]:
    """What stands in the place of a sentence; a fence stays code."""
    return section_of("", text).sentences if "```" in text else tuple(marked(text))


def _failed(subject: str, error: Exception, effect: str) -> Problem:
    return Problem(stage="writer", subject=subject, reason=str(error), effect=effect)


def _why(finding: Finding | None) -> str:
    if finding is None or finding.holds:
        return ""
    return f"{finding.verdict}. {finding.why}".strip()


def _with_code(section: Section, evidence: Sequence[Evidence]) -> Section:
    """The section, in which code that its writer set as prose is code, and its fences cite where
    they stand. Raises BadReply for one without sentences.
    """
    if not section.sentences:
        raise BadReply("The section has no sentences.")
    code = {" ".join(e.quote.split()): e for e in evidence if e.kind == "code"}
    changes: Changes = {}
    for sentence in section.sentences:
        same = code.get(" ".join(sentence.text.split()))
        if same and not sentence.code:
            changes[sentence] = (quoted(same),)
        elif sentence.code and not sentence.evidence_ids:
            source = next((e for e in evidence if sentence.text in e.quote), None)
            ids = (source.id,) if source else ()
            changes[sentence] = (sentence.model_copy(update={"evidence_ids": ids}),)
    return section.changed(changes)
