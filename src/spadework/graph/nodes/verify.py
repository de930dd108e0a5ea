"""Check a report's sentences, repair failed sentences once, and drop those that fail again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spadework.agents import writer
from spadework.agents.extractive import writer as extractive
from spadework.agents.llm.client import Model
from spadework.agents.outline import is_summary
from spadework.agents.report.material import Material
from spadework.agents.report.sentence_context import state_sentences
from spadework.agents.verifier import UNCHECKED, Checked, Finding, Findings, judge_section, verify
from spadework.graph.nodes.write import cited_by, closest_entries, drop_unfounded_labels
from spadework.graph.sentence_pruning import (
    drop_repeats,
    keep_what_holds,
    settle_changes,
    unlinked,
    unproven,
)
from spadework.values import Coverage, Evidence, Plan, Problem, Section

#: Maximum fraction of the remaining time to spend on repairing the report. Checking the repairs may
#: then take the same fraction of the time that is still left.
MENDING = 0.6
#: Reports with at most this many sentences need no summary.
SUMMED_UP = 4


@dataclass(frozen=True)
class Verified:
    """Verified sections, with findings and problems."""

    checked: tuple[Checked, ...]
    problems: tuple[Problem, ...]

    @property
    def sections(self) -> list[Section]:
        """The sections without their findings."""
        return [each.section for each in self.checked]


def verify_ledger(
    ledger: Sequence[Evidence], pages: Mapping[str, str], question: str, language: str = ""
) -> tuple[Material, list[Problem]]:
    """Return the evidence whose quotes occur verbatim in their pages, and problems for the rest."""
    held = {e.id: e for e in ledger if pages.get(e.content_hash, "")[e.start : e.end] == e.quote}
    problems = [
        Problem(
            stage="verifier",
            subject=e.id,
            reason="The quote is not in the page it was taken from.",
            effect="The quote was not used.",
        )
        for e in ledger
        if e.id not in held
    ]
    return Material(held, pages, question, language.lower()[:2]), problems


def still_proven(coverage: Mapping[str, Coverage], material: Material) -> dict[str, Coverage]:
    """Remove the evidence that failed verification. Topics left with none become uncovered."""
    made = {}
    for name, found in coverage.items():
        ids = tuple(id_ for id_ in found.evidence_ids if id_ in material.ledger)
        changes = {"evidence_ids": ids} | ({} if ids else {"covered": False, "score": 0.0})
        made[name] = found.model_copy(update=changes)
    return made


@dataclass(frozen=True)
class Check:
    """How to check sections within `seconds`. `thorough` allows repairs, and `summed` allows a
    summary. `known` holds findings to reuse, and `names` holds names (such as file names) that
    all code samples share. `asked_on` is the run's start date (YYYY-MM-DD).
    """

    seconds: float
    thorough: bool = True
    summed: bool = True
    known: Findings = field(default_factory=dict)
    asked_on: str = ""
    names: Sequence[str] = ()


@dataclass(frozen=True)
class _Draft:
    checked: list[Checked]
    findings: Findings
    summary: list[Checked]


async def verify_sections(
    model: Model | None, plan: Plan, sections: Sequence[Section], material: Material, check: Check
) -> Verified:
    """Return the sections with only verified sentences, or with quotes if none are verified."""
    until = time.monotonic() + check.seconds
    questions = {topic.name: topic.question for topic in plan.topics}
    material = replace(material.with_code(sections, check.names), questions=questions)
    sections = await asyncio.to_thread(
        lambda: [drop_unfounded_labels(section, material) for section in sections]
    )
    findings, problems = await verify(
        model, sections, material, seconds=check.seconds, known=check.known
    )
    draft = _Draft([judge_section(section, findings) for section in sections], findings, [])
    if model is not None and check.thorough:
        if check.summed and sections and sections[0].kind == "summary":
            sections = sections[1:]
            draft = replace(draft, checked=draft.checked[1:], summary=draft.checked[:1])
        draft, more = await _improve_draft(model, plan, draft, material, check, until)
        problems += more
    kept = [keep_what_holds(each, draft.findings) for each in draft.checked]
    told = [
        _keep_quotes(one, section, material)
        for (one, _), section in zip(kept, sections, strict=True)
    ]
    whole = drop_repeats([*draft.summary, *(one for one, _ in told)])
    lost = [problem for _, more in (*kept, *told) for problem in more]
    return Verified(
        tuple(unlinked(one) for one in whole if one.section.sentences), (*problems, *lost)
    )


async def _improve_draft(
    model: Model, plan: Plan, draft: _Draft, material: Material, check: Check, until: float
) -> tuple[_Draft, list[Problem]]:
    def seconds_left() -> float:
        return max(0.0, until - time.monotonic())

    seconds = MENDING * seconds_left()
    done = await asyncio.gather(
        *(_mend(model, plan, one, material, seconds) for one in draft.checked)
    )
    mends = [changes for changes, _ in done]
    again = [one.section.changed(some) for one, some in zip(draft.checked, mends, strict=True)]
    told = [_as_mended(one, draft.findings) for one in again if check.summed]
    first = draft.summary if summable(told, plan.language) else []
    seconds = MENDING * seconds_left()
    (findings, unchecked), (summary, failed) = await asyncio.gather(
        verify(model, again, material, seconds=seconds, known=draft.findings),
        summed_up(model, plan, told, first, seconds=seconds, asked_on=check.asked_on),
    )
    for one, changes in zip(draft.checked, mends, strict=True):
        findings |= unproven(one, changes, findings)
    checked = [
        settle_changes(one.section, changes, findings)
        for one, changes in zip(draft.checked, mends, strict=True)
    ]
    summed = [drop_unfounded_labels(summary, material)] if summary.sentences else []
    findings, unseen = await verify(model, summed, material, seconds=seconds_left(), known=findings)
    best, lost = best_of([*(judge_section(one, findings) for one in summed), *first], findings)
    problems = [problem for _, more in done for problem in more]
    return _Draft(checked, findings, best), [*problems, *failed, *unchecked, *unseen, *lost]


def _as_mended(section: Section, findings: Findings) -> Section:
    found = {each: findings.get(each, UNCHECKED) for each in state_sentences(section)}
    return keep_what_holds(judge_section(section, found), found)[0].section


async def _mend(
    model: Model, plan: Plan, checked: Checked, material: Material, seconds: float
) -> tuple[writer.Changes, list[Problem]]:
    pairs = zip(checked.section.sentences, checked.findings, strict=True)
    if not (failed := [one for one, finding in pairs if not finding.holds]):
        return {}, []
    evidence = await asyncio.to_thread(closest_entries, failed, checked.section, material)
    return await writer.mend(model, plan.question, checked, evidence, seconds=seconds)


def _keep_quotes(
    checked: Checked, written: Section, material: Material
) -> tuple[Checked, list[Problem]]:
    own = cited_by(written, material)
    if checked.section.sentences or not own:
        return checked, []
    shown = extractive.section(written.heading, own)
    problem = Problem(
        stage="writer",
        subject=written.heading,
        reason="The evidence supported none of the written sentences.",
        effect="The section was composed from quotes, without the model.",
    )
    return Checked(shown, (Finding("supported"),) * len(shown.sentences)), [problem]


def summable(sections: Sequence[Section], code: str) -> bool:
    """Return whether the sections are long enough for a summary and lack one."""
    has_one = any(is_summary(one.heading, code) for one in sections)
    return not has_one and sum(len(one.sentences) for one in sections) > SUMMED_UP


async def summed_up(
    model: Model,
    plan: Plan,
    sections: Sequence[Section],
    first: Sequence[Checked],
    *,
    seconds: float,
    asked_on: str,
) -> tuple[Section, list[Problem]]:
    """Return a summary of verified sections (empty if none is needed or the model fails), and the
    problems. `first` is the outline's short answer, which replaces the summary if all of it
    passed verification.
    """
    proven = first and all(
        finding.holds and finding != UNCHECKED for each in first for finding in each.findings
    )
    if proven or not summable(sections, plan.language):
        return writer.in_short("", plan.language), []
    told = [one for one in sections if one.sentences]
    return await writer.summarise(model, plan, told, first, seconds=seconds, asked_on=asked_on)


def best_of(made: Sequence[Checked], findings: Findings) -> tuple[list[Checked], list[Problem]]:
    """Return the best summary in `made`, without its failed sentences, and the problems. Prefer a
    summary that keeps its opening sentence. If no summary has sentences left, return [] in its
    place.
    """
    kept = [(each, *keep_what_holds(each, findings)) for each in made]
    left = [(one, lost) for _, one, lost in kept if one.section.sentences]
    whole = [
        (one, lost)
        for each, one, lost in kept
        if each.section.sentences[:1] == one.section.sentences[:1] != ()
    ]
    for one, lost in [*whole, *left][:1]:
        return [one], lost
    return [], [problem for _, _, lost in kept for problem in lost]
