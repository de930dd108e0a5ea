"""Verifying a report: every sentence is checked; what did not hold is mended once by its writer,
while the summary is written from what did; what then does not hold is taken out and named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spadework.agents import writer
from spadework.agents.checking import SAME_MATTER
from spadework.agents.extractive import writer as extractive
from spadework.agents.model import Model
from spadework.agents.quoting import own_words
from spadework.agents.verifier import Finding, Material, verify
from spadework.tools.facts import stems
from spadework.tools.text.detect import spoken
from spadework.tools.text.language import language
from spadework.tools.urls import hosts_for_urls
from spadework.values import Evidence, Plan, Problem, Section, Sentence

#: A topic with fewer sentences of its own than this says again, up to so many, what stands in other
#: sections.
LEAST_SAID = 4
#: Other entries of its topic that are tried for a sentence which those it cites do not bear out.
MOST_TRIED = 3
#: Why a sentence was taken out that holds by itself.
LEANING = "It leaned on a sentence that was taken out."

NO_SUMMARY = Section(heading="Summary", kind="summary")


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


async def verified(
    model: Model | None,
    plan: Plan,
    sections: Sequence[Section],
    material: Material,
    *,
    seconds: float,
) -> Verified:
    """The sections with what holds of them, under a summary where a model writes one. A topic of
    whose section nothing is left shows its quotes themselves.
    """
    sections = await asyncio.to_thread(_cited_anew, sections, material)
    findings, problems = await verify(model, _sentences(sections), material, seconds=seconds)
    before: Mapping[Sentence, Sentence] = {}
    if model is not None:
        sections, before, more = await _mended(model, plan, sections, material, findings, seconds)
        new = [sentence for sentence in _sentences(sections) if sentence not in findings]
        again, unchecked = await verify(model, new, material, seconds=seconds)
        findings = findings | again
        problems += [*more, *unchecked]
    kept, removed = _held(sections, findings, before)
    whole, replaced = _with_quotes(plan, kept, material)
    names = {sentence: without_addresses(sentence) for sentence in _sentences(whole)}
    return Verified(
        tuple(_renamed(section, names) for section in _once(whole)),
        {names[s]: findings.get(s, Finding("supported")) for s in names},
        (*problems, *removed, *replaced),
    )


def _sentences(sections: Sequence[Section]) -> list[Sentence]:
    return [sentence for section in sections for sentence in section.sentences]


def _cited_anew(sections: Sequence[Section], material: Material) -> list[Section]:
    """The sections, in which a sentence that code would refuse cites another entry of its topic,
    too, where that one bears it out.
    """
    return [
        section.model_copy(
            update={
                "sentences": tuple(
                    _with_another(sentence, section.heading, material)
                    for sentence in section.sentences
                )
            }
        )
        for section in sections
    ]


def _with_another(sentence: Sentence, topic: str, material: Material) -> Sentence:
    cited = material.cited(sentence)
    if own_words(sentence, cited) or not material.refused(sentence, cited):
        return sentence
    others = [e for e in material.ledger.values() if e.topic == topic and e not in cited]
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
    seconds: float,
) -> tuple[list[Section], dict[Sentence, Sentence], list[Problem]]:
    """The sections as their writers mend them, under the summary, all in one wave; what stood in
    the place of each new sentence; and what went wrong.
    """
    broken = [s for s in sections if any(not findings[one].holds for one in s.sentences)]
    holding, _ = _held(sections, dict(findings), {})
    telling = [section for section in holding if section.sentences]
    mending = [
        writer.mend(
            model,
            plan.question,
            section,
            findings,
            [e for e in material.ledger.values() if e.topic == section.heading],
            seconds=seconds,
        )
        for section in broken
    ]
    if len(telling) > 1:
        done, (summary, failed) = await asyncio.gather(
            asyncio.gather(*mending), writer.summarise(model, plan, telling, seconds=seconds)
        )
    else:
        done, summary, failed = await asyncio.gather(*mending), NO_SUMMARY, []
    changed: dict[str, dict[Sentence, Sentence | None]] = {
        section.heading: changes for section, (changes, _) in zip(broken, done, strict=True)
    }
    before: dict[Sentence, Sentence] = {}
    made = [summary] if summary.sentences else []
    for section in sections:
        changes = changed.get(section.heading, {})
        told = [(sentence, changes.get(sentence, sentence)) for sentence in section.sentences]
        before |= {new: old for old, new in told if new and new != old}
        kept = tuple(new for _, new in told if new)
        made.append(section.model_copy(update={"sentences": kept}))
    return made, before, [*(p for _, problems in done for p in problems), *failed]


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
        kept: list[Sentence] = []
        gap = False
        for told in section.sentences:
            old = before.get(told)
            back = old is not None and not findings[told].holds and findings[old].holds
            sentence = old if back and old else told
            finding = findings[sentence]
            alone = _alone(sentence) if gap else sentence
            if finding.holds and alone:
                findings[alone] = finding
                kept.append(alone)
                gap = False
                continue
            why = f"{finding.verdict}. {finding.why}" if not finding.holds else LEANING
            problems.append(_taken_out(section, sentence, why))
            gap = True
        made.append(section.model_copy(update={"sentences": tuple(kept)}))
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
    plan: Plan, sections: Sequence[Section], material: Material
) -> tuple[list[Section], list[Problem]]:
    """The sections, in which a topic that has evidence and of whose section nothing is left shows
    its quotes themselves.
    """
    made: list[Section] = []
    problems: list[Problem] = []
    held = {section.heading: section for section in sections if section.sentences}
    made += [s for s in held.values() if s.heading not in {t.name for t in plan.topics}]
    for topic in plan.topics:
        own = [e for e in material.ledger.values() if e.topic == topic.name]
        if topic.name in held:
            made.append(held[topic.name])
        elif own:
            made.append(extractive.section(topic.name, own))
            problems.append(
                Problem(
                    stage="writer",
                    subject=topic.name,
                    reason="No sentence that was written held against the evidence.",
                    effect="The extractive role did this work.",
                )
            )
    return made, problems


def _once(sections: Sequence[Section]) -> list[Section]:
    """The sections without the sentences that a section before says; where few are left, the best
    of those, too: an answer stands with its question. A summary may repeat what the sections say.
    """
    said: set[str] = set()
    made = []
    for section in sections:
        told = list(dict.fromkeys(section.sentences))
        own = [sentence for sentence in told if sentence.text not in said]
        again = [s for s in told if s.text in said and not s.code and not s.text.endswith(":")]
        few = max(0, LEAST_SAID - len(own))
        kept = {*own, *(again[:few] or (told[:1] if not own else []))}
        made.append(section.model_copy(update={"sentences": tuple(s for s in told if s in kept)}))
        if section.kind != "summary":
            said |= {sentence.text for sentence in told}
    return made


def without_addresses(sentence: Sentence) -> Sentence:
    """Prose names hosts: the only addresses of a report are those of its sources, and what stands
    in code.
    """
    if sentence.code:
        return sentence
    return sentence.model_copy(update={"text": hosts_for_urls(sentence.text)})


def _renamed(section: Section, names: Mapping[Sentence, Sentence]) -> Section:
    told = tuple(names[sentence] for sentence in section.sentences)
    return section.model_copy(
        update={"heading": hosts_for_urls(section.heading), "sentences": told}
    )
