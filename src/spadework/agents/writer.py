"""Write, correct and summarize sections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from spadework.agents.extractive import writer as extractive
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.agents.outline import Outline, Outlined
from spadework.agents.report.marked_text import bare_code, parse_sentences, section_of
from spadework.agents.report.material import entries_of
from spadework.agents.report.sentence_context import Stated, state_sentences
from spadework.agents.verifier import Checked
from spadework.errors import BadReply
from spadework.prompts import render
from spadework.tools.text.language import Phrases
from spadework.tools.text.sentences import leads
from spadework.values import Evidence, Plan, Problem, Section, Sentence, Visible

MOST_MENDED = 20


class SectionAnswer(Reply):
    """A section in Markdown with citation marks."""

    markdown: str


class SummaryAnswer(SectionAnswer):
    """The report's summary."""


class MendedAnswer(Visible):
    """A sentence's new text, with its citation marks. "" removes the sentence."""

    number: int
    text: str


class MendingAnswer(Reply):
    """A section's changed sentences."""

    sentences: list[MendedAnswer] = at_most(MOST_MENDED)


#: Replacements for sentences, keyed by the sentence's position. An empty tuple removes the
#: sentence.
Changes = dict[int, tuple[Sentence, ...]]


async def write(
    model: Model | None, plan: Plan, outline: Outline, *, seconds: float, asked_on: str = ""
) -> tuple[tuple[Section, ...], list[Problem]]:
    """Write the outline's sections in order. `asked_on` is the date the question was asked."""
    asked = _question_fields(plan, asked_on)
    done = await asyncio.gather(
        *(_section(model, asked, outline, section, seconds) for section in outline.sections)
    )
    return tuple(section for section, _ in done), [p for _, problems in done for p in problems]


def _question_fields(plan: Plan, asked_on: str) -> dict[str, object]:
    return {
        "question": plan.question,
        "asked_on": asked_on,
        "language": plan.language,
        "wishes": plan.wishes,
    }


async def _section(
    model: Model | None,
    asked: Mapping[str, object],
    outline: Outline,
    section: Outlined,
    seconds: float,
) -> tuple[Section, list[Problem]]:
    async def written(model: Model) -> Section:
        prompt = render(
            "writer",
            **asked,
            answer=outline.answer,
            heading=section.heading,
            shows=section.shows,
            form=section.form,
            columns=section.columns,
            words=section.words,
            evidence=entries_of(section.evidence),
            names=outline.names,
            others=[
                f"{other.heading}: {other.shows}"
                for other in outline.sections
                if other is not section
            ],
        )
        answer = await model.ask("writer", prompt, SectionAnswer, seconds=seconds)
        made = section_of(section.heading, answer.markdown).made_by(answer.author)
        return with_code(made, section.evidence)

    return await first_of(
        model,
        "writer",
        section.heading,
        written,
        lambda: extractive.section(section.heading, section.evidence),
    )


async def mend(
    model: Model, question: str, checked: Checked, evidence: Sequence[Evidence], *, seconds: float
) -> tuple[Changes, list[Problem]]:
    """Rewrite unsupported sentences and those that depend on them. Return {} if the model fails."""
    section, told = checked.section, state_sentences(checked.section)
    prompt = render(
        "mend",
        question=question,
        heading=section.heading,
        items=_describe_findings(checked),
        evidence=entries_of(evidence),
    )

    async def ask(model: Model) -> Changes:
        answer = await model.ask("writer", prompt, MendingAnswer, seconds=seconds)
        changes = {}
        for one in answer.sentences:
            if 1 <= one.number <= len(told):
                made = _mend_sentence(told[one.number - 1], one.text)
                changes[one.number - 1] = tuple(each.made_by(answer.author) for each in made)
        return changes

    effect = "Sentences that the evidence does not support were removed."
    return await first_of(model, "writer", section.heading, ask, dict, effect)


async def summarise(
    model: Model,
    plan: Plan,
    sections: Sequence[Section],
    first: Sequence[Checked] = (),
    *,
    seconds: float,
    asked_on: str = "",
) -> tuple[Section, list[Problem]]:
    """Return a summary of verified sections (empty if the model fails) and the problems. `first`
    holds the earlier short answer with the findings on it.
    """
    told = [
        (
            section.heading,
            [
                one
                for one in state_sentences(section)
                if not one.label and (one.sentence.evidence_ids or not leads(one.sentence.text))
            ],
        )
        for section in sections
    ]
    found = [_describe_findings(one) for one in first]
    prompt = render("summary", **_question_fields(plan, asked_on), sections=told, first=found)

    async def ask(model: Model) -> Section:
        answer = await model.ask("writer", prompt, SummaryAnswer, seconds=seconds)
        return in_short(answer.markdown, plan.language).made_by(answer.author)

    effect = "The report keeps the short answer that was written before its sections."
    return await first_of(
        model, "writer", "summary", ask, lambda: in_short("", plan.language), effect
    )


def in_short(markdown: str, code: str) -> Section:
    """Turn a short answer into a summary section. The section is empty if the answer cites nothing.
    `code` is the language code for the section's heading.
    """
    made = section_of(Phrases(code)("summary"), markdown)
    if not any(one.evidence_ids for one in made.sentences):
        made = Section(heading=made.heading)
    return made.model_copy(update={"kind": "summary"})


def _describe_findings(checked: Checked) -> list[dict[str, object]]:
    return [
        {
            "text": one.sentence.text,
            "row": one.row,
            "code": one.sentence.code,
            "mark": one.mark,
            "why": "" if finding.holds else f"{finding.verdict}. {finding.why}".strip(),
        }
        for one, finding in zip(state_sentences(checked.section), checked.findings, strict=True)
    ]


def _mend_sentence(before: Stated, text: str) -> tuple[Sentence, ...]:
    if "```" in text:
        return section_of("", text).sentences
    if before.sentence.code:
        return bare_code(text, before.sentence)
    if before.row:
        named = re.compile(rf"[|(\s]*{re.escape(before.row)}\)?\s*:?")
        text = named.sub("", text, count=1).strip("| \n")
    made = parse_sentences(text)
    # A row label cites nothing itself, but the prompt shows it with its row's citation marks. Drop
    # any marks that the model's answer repeats for the label.
    return tuple(s.model_copy(update={"evidence_ids": ()}) if before.label else s for s in made)


def with_code(section: Section, evidence: Sequence[Evidence]) -> Section:
    """Put quoted code into code blocks and cite it. Raises BadReply if the section is empty."""
    if not section.sentences:
        raise BadReply("The section has no sentences.")
    code = {" ".join(e.quote.split()): e for e in evidence if e.kind == "code"}
    changes: Changes = {}
    for n, sentence in enumerate(section.sentences):
        same = code.get(" ".join(sentence.text.split()))
        if same and not sentence.code:
            changes[n] = (extractive.quote_entry(same).made_by(sentence.maker),)
        elif sentence.code and not sentence.evidence_ids:
            source = next((e for e in evidence if sentence.text in e.quote), None)
            ids = (source.id,) if source else ()
            changes[n] = (sentence.model_copy(update={"evidence_ids": ids}),)
    return section.changed(changes)
