"""Verifying a report: every sentence is checked; what did not hold is mended once by its writer,
while the summary is written from what did; what then does not hold is taken out and named.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spadework.agents import writer
from spadework.agents.checking import SAME_MATTER
from spadework.agents.context import in_context, labels
from spadework.agents.extractive import writer as extractive
from spadework.agents.model import Model
from spadework.agents.quoting import own_words
from spadework.agents.verifier import Finding, Material, verify
from spadework.tools.facts import stems
from spadework.tools.text.detect import spoken
from spadework.tools.text.language import language
from spadework.tools.urls import hosts_for_urls
from spadework.values import Coverage, Evidence, Plan, Problem, Section, Sentence

#: A topic with fewer sentences of its own than this says again, up to so many, what stands in other
#: sections.
LEAST_SAID = 4
#: Other entries of its topic that are tried for a sentence which those it cites do not bear out.
MOST_TRIED = 3
#: Code within a sentence.
_IN_CODE = re.compile(r"(`[^`\n]+`)")
#: Why a sentence was taken out that holds by itself.
LEANING = "It leaned on a sentence that was taken out."

#: A report with no more sentences than this needs no summary.
SUMMED_UP = 4
#: Entries that a section does not cite and its writer is shown when it mends.
MOST_NEAR = 8


@dataclass(frozen=True)
class Verified:
    """Sections in which every sentence holds, what was found of each, and what went wrong."""

    sections: tuple[Section, ...]
    findings: Mapping[Sentence, Finding]
    problems: tuple[Problem, ...]


def standing(
    ledger: Sequence[Evidence], pages: Mapping[str, str], question: str
) -> tuple[Material, list[Problem]]:
    """What sentences are checked against: the entries that stand in their stored pages, and a
    problem for each that does not.
    """
    held = {e.id: e for e in ledger if pages.get(e.content_hash, "")[e.start : e.end] == e.quote}
    problems = [
        Problem(
            stage="verifier",
            subject=e.id,
            reason="The quote does not stand in its stored page.",
            effect="It was not used.",
        )
        for e in ledger
        if e.id not in held
    ]
    return Material(held, pages, question), problems


def still_proven(coverage: Mapping[str, Coverage], material: Material) -> dict[str, Coverage]:
    """The coverage of topics as far as their entries stand: what is proven by nothing that stands
    is open.
    """
    made = {}
    for name, found in coverage.items():
        ids = tuple(id_ for id_ in found.evidence_ids if id_ in material.ledger)
        changes = {"evidence_ids": ids} | ({} if ids else {"covered": False, "score": 0.0})
        made[name] = found.model_copy(update=changes)
    return made


async def verified(
    model: Model | None,
    plan: Plan,
    sections: Sequence[Section],
    material: Material,
    *,
    seconds: float,
    thorough: bool = True,
) -> Verified:
    """The sections with what holds of them, within `seconds`; `thorough`: what does not hold is
    mended, and there is a summary. A section of which nothing is left shows what it cites.
    """
    until = time.monotonic() + seconds

    def left() -> float:
        return max(0.0, until - time.monotonic())

    sections = await asyncio.to_thread(_cited_anew, sections, material)
    findings, problems = await verify(model, sections, material, seconds=left())
    written, before = sections, dict[Sentence, Sentence]()
    if model is not None and thorough:
        sections, before, more = await _mended(model, plan, sections, material, findings, left)
        again, unchecked = await verify(model, sections, material, seconds=left(), known=findings)
        findings = findings | again
        problems += [*more, *unchecked]
    kept, removed = _held(sections, findings, before)
    whole, replaced = _with_quotes(kept, written, material)
    names = {sentence: without_addresses(sentence) for sentence in _sentences(whole)}
    told = {new: (name,) for new, name in names.items()}
    return Verified(
        tuple(_renamed(section).changed(told) for section in _once(whole) if section.sentences),
        {names[s]: findings.get(s, Finding("supported")) for s in names},
        (*problems, *removed, *replaced),
    )


def _sentences(sections: Sequence[Section]) -> list[Sentence]:
    return [sentence for section in sections for sentence in section.sentences]


def _cited_anew(sections: Sequence[Section], material: Material) -> list[Section]:
    """The sections, in which a sentence that code would refuse cites another entry of the ledger,
    too, where that one bears it out.
    """
    made = []
    for section in sections:
        named = labels(section)
        told = [one for one in section.sentences if one not in named]
        made.append(section.changed({one: (_with_another(one, material),) for one in told}))
    return made


def _with_another(sentence: Sentence, material: Material) -> Sentence:
    cited = material.cited(sentence)
    if own_words(sentence, cited) or not material.refused(sentence, cited):
        return sentence
    topics = {e.topic for e in cited}
    others = [
        e for e in material.ledger.values() if e not in cited and (e.topic in topics or not topics)
    ]
    code = spoken(sentence.text)
    said = stems(sentence.text, code)
    shared = {e.id: len(said & stems(e.quote, code)) for e in others}
    near = [e for e in others if shared[e.id] >= max(1.0, SAME_MATTER * len(said))]
    for other in sorted(near, key=lambda e: -shared[e.id])[:MOST_TRIED]:
        if not material.refused(sentence, [*cited, other]):
            ids = (*(e.id for e in cited), other.id)
            return sentence.model_copy(update={"evidence_ids": ids})
    return sentence


async def _mended(
    model: Model,
    plan: Plan,
    sections: Sequence[Section],
    material: Material,
    findings: Mapping[Sentence, Finding],
    left: Callable[[], float],
) -> tuple[list[Section], dict[Sentence, Sentence], list[Problem]]:
    """The sections as their writers mend them, under the summary, all in one wave; what stood in
    the place of each new sentence; and what went wrong.
    """
    broken = [s for s in sections if any(not findings[one].holds for one in s.sentences)]
    holding, _ = _held(sections, dict(findings), {})
    telling = [section for section in holding if section.sentences]
    seconds = left()
    mending = asyncio.gather(
        *(
            writer.mend(
                model, plan.question, one, findings, _near(one, findings, material), seconds=seconds
            )
            for one in broken
        )
    )
    summing = (
        writer.summarise(model, plan, telling, seconds=seconds)
        if len(_sentences(telling)) > SUMMED_UP
        else _no_summary()
    )
    done, (summary, failed) = await asyncio.gather(mending, summing)
    before: dict[Sentence, Sentence] = {}
    made = {section.heading: section for section in sections}
    for section, (changes, _) in zip(broken, done, strict=True):
        made[section.heading] = section.changed(changes)
        before |= {new: old for old, several in changes.items() for new in several if new != old}
    summed = [summary] if summary.sentences else []
    return [*summed, *made.values()], before, [*(p for _, ps in done for p in ps), *failed]


async def _no_summary() -> tuple[Section, list[Problem]]:
    return Section(heading="Summary", kind="summary"), []


def _near(
    section: Section, findings: Mapping[Sentence, Finding], material: Material
) -> list[Evidence]:
    """What a writer may cite anew: the entries that its section cites, and of the others those
    nearest to what did not hold.
    """
    cited = {e.id: e for one in section.sentences for e in material.cited(one)}
    failed = " ".join(one.text for one in section.sentences if not findings[one].holds)
    code = spoken(failed)
    said = stems(failed, code)
    others = [e for e in material.ledger.values() if e.id not in cited]
    nearest = sorted(others, key=lambda e: -len(said & stems(f"{e.claim} {e.quote}", code)))
    return [*cited.values(), *nearest[:MOST_NEAR]]


def _held(
    sections: Sequence[Section],
    findings: dict[Sentence, Finding],
    before: Mapping[Sentence, Sentence],
) -> tuple[list[Section], list[Problem]]:
    """The sections without what does not hold, and without what would then hang in the air; a
    sentence that held before it was mended stays as it was. What is shortened to stand alone has
    the finding of what it was.
    """
    made: list[Section] = []
    problems: list[Problem] = []
    for section in sections:
        changes: dict[Sentence, tuple[Sentence, ...]] = {}
        restored: set[Sentence] = set()
        gap = False
        for told in section.sentences:
            old = before.get(told)
            back = old is not None and not findings[told].holds and findings[old].holds
            sentence = old if back and old and old not in restored else told
            restored.add(sentence)
            finding = findings[sentence]
            alone = _alone(sentence) if gap else sentence
            if finding.holds and alone:
                findings[alone] = finding
                changes[told] = (alone,)
                gap = False
                continue
            why = f"{finding.verdict}. {finding.why}" if not finding.holds else LEANING
            problems.append(_taken_out(section, sentence, why))
            changes[told] = ()
            gap = True
        made.append(section.changed(changes))
    return made, problems


def _alone(sentence: Sentence) -> Sentence | None:
    """A sentence as it can stand after a gap; None where it cannot."""
    if sentence.code:
        return sentence
    text = language(spoken(sentence.text)).alone(sentence.text)
    return sentence.model_copy(update={"text": text}) if text else None


def _taken_out(section: Section, sentence: Sentence, why: str) -> Problem:
    return Problem(
        stage="verifier",
        subject=section.heading,
        reason=f"{why.strip()} The sentence: {sentence.text[:300]}",
        effect="It was taken out.",
    )


def _with_quotes(
    sections: Sequence[Section], written: Sequence[Section], material: Material
) -> tuple[list[Section], list[Problem]]:
    """The sections, in which one of which nothing is left shows what it cited."""
    cited = {section.heading: _near_only(section, material) for section in written}
    made: list[Section] = []
    problems: list[Problem] = []
    for section in sections:
        own = cited.get(section.heading, [])
        if section.sentences or section.kind == "summary" or not own:
            made.append(section)
            continue
        made.append(extractive.section(section.heading, own))
        problems.append(
            Problem(
                stage="writer",
                subject=section.heading,
                reason="No sentence that was written held against the evidence.",
                effect="The extractive role did this work.",
            )
        )
    return made, problems


def _near_only(section: Section, material: Material) -> list[Evidence]:
    """The entries that a section cites; where it cites none that exists, those of its topic."""
    cited = {e.id: e for one in section.sentences for e in material.cited(one)}
    topic = [e for e in material.ledger.values() if e.topic == section.heading]
    return list(cited.values()) or topic


def _once(sections: Sequence[Section]) -> list[Section]:
    """The sections without the sentences that a section before says; where few are left, the best
    of those, too: an answer stands with its question. A summary may repeat what the sections say.
    """
    said: set[str] = set()
    made = []
    for section in sections:
        told = list(dict.fromkeys(section.sentences))
        cells = set(in_context(section)) | labels(section)
        own = [sentence for sentence in told if sentence.text not in said or sentence in cells]
        again = [s for s in told if s.text in said and not s.code and not s.text.endswith(":")]
        few = max(0, LEAST_SAID - len(own))
        kept = {*own, *(again[:few] or (told[:1] if not own else []))}
        made.append(section.changed({one: () for one in told if one not in kept}))
        if section.kind != "summary":
            said |= {sentence.text for sentence in told}
    return made


def without_addresses(sentence: Sentence) -> Sentence:
    """Prose names hosts: the only addresses of a report are those of its sources, and what stands
    in code.
    """
    if sentence.code:
        return sentence
    parts = _IN_CODE.split(sentence.text)
    told = [part if n % 2 else hosts_for_urls(part) for n, part in enumerate(parts)]
    return sentence.model_copy(update={"text": "".join(told)})


def _renamed(section: Section) -> Section:
    parts = tuple(
        part.model_copy(update={"text": hosts_for_urls(part.text)}) for part in section.parts
    )
    return section.model_copy(update={"heading": hosts_for_urls(section.heading), "parts": parts})
