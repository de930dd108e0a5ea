"""The verifier: a verdict on every sentence of a report.

A verbatim quote holds. Code refuses unknown code and addresses. A model judges the rest, seeing the
sentence and, for each entry it cites, the quote with title, heading, date and adjacent sentences.
What code finds suspicious is asked again with the reason. A sentence without a model's verdict
counts as not checked; it is dropped if code finds a figure, date or name in it that is in no page.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from spadework.agents.evidence.counts import is_count
from spadework.agents.extractive.writer import own_cell, own_words
from spadework.agents.llm.client import Model
from spadework.agents.llm.structured_output import Reply
from spadework.agents.report.checks import note_doubts
from spadework.agents.report.material import Entry, Material, entry_of
from spadework.agents.report.sentence_context import Stated, leans, state_sentences
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.text.language import Phrases
from spadework.tools.text.quotes import plain
from spadework.values import CODE, NOBODY, Evidence, Problem, Section, Sentence, Verdict

#: Sentences per call.
BATCH = 20
#: Maximum words in a row label; anything longer may be a claim.
NAME_WORDS = 3

Ruling = Literal["supported", "partly", "contradicted", "unsupported", "could not check"]
#: Of two verdicts on one sentence, the later in this list wins.
STRICTER: tuple[Verdict, ...] = (
    "supported",
    "inference",
    "could not check",
    "partly",
    "unsupported",
    "contradicted",
)

#: Failures of the model.
_FAILURES = (ModelError, BudgetSpent)


class VerdictAnswer(Reply):
    """What the quotes of one sentence say of it, the words that they do not bear out, and what
    they say in the place of these.
    """

    number: int
    verdict: Ruling
    missing: str = ""
    evidence_says: str = ""

    @property
    def reason(self) -> str:
        """Why the sentence does not hold, for its writer."""
        instead = self.evidence_says and f"The evidence says: {self.evidence_says}"
        return " ".join(filter(None, (self.missing and f"Not borne out: {self.missing}.", instead)))


class VerdictsAnswer(Reply):
    """The verdicts of all sentences shown."""

    verdicts: list[VerdictAnswer]


@dataclass(frozen=True)
class Finding:
    """The verdict on a sentence, and why it does not hold. `judge` is a model's name, `CODE` or
    `NOBODY`.
    """

    verdict: Verdict
    why: str = ""
    judge: str = CODE

    @property
    def holds(self) -> bool:
        """Whether the sentence may stay in the report."""
        return self.verdict in ("supported", "inference", "could not check")


UNCHECKED = Finding("could not check", judge=NOBODY)
#: Verdicts on sentences in context.
Findings = Mapping[Stated, Finding]


@dataclass(frozen=True)
class Checked:
    """A section and the findings on its sentences, in order."""

    section: Section
    findings: tuple[Finding, ...]

    def changed(self, changes: Mapping[int, Sequence[Sentence]]) -> Checked:
        """Replace or remove sentences at some positions, keeping their findings."""
        found = (
            finding
            for n, finding in enumerate(self.findings)
            for _ in changes.get(n, self.section.sentences[n : n + 1])
        )
        return Checked(self.section.changed(changes), tuple(found))


def judge_section(section: Section, findings: Findings) -> Checked:
    """Return a section with the findings on its sentences in context."""
    return Checked(section, tuple(findings[each] for each in state_sentences(section)))


@dataclass(frozen=True)
class Asked:
    """A single sentence of `whole` for the model, with code's objection. Code rejects one with
    something `unfounded` if no model judges it.
    """

    whole: Stated
    stated: Stated
    note: str = ""
    unfounded: str = ""

    @property
    def unjudged(self) -> Finding:
        """The finding without a model's verdict."""
        return Finding("unsupported", self.unfounded) if self.unfounded else UNCHECKED


async def verify(
    model: Model | None,
    sections: Sequence[Section],
    material: Material,
    *,
    seconds: float,
    known: Findings = MappingProxyType({}),
) -> tuple[dict[Stated, Finding], list[Problem]]:
    """Return the findings on every sentence, including `known` ones, and the problems of
    checking.
    """
    findings, asked = await asyncio.to_thread(_check_by_code, sections, material, known)
    if not asked or model is None:
        return findings | _join(asked, {}), []
    answers, why = await _ask_model(model, asked, material, seconds)
    problems = model.news("verifier")
    if unseen := len(asked) - len(answers):
        effect = f"{unseen} sentences could not be checked by a model."
        problems += [Problem(stage="model", subject="verifier", reason=why, effect=effect)]
    return findings | _join(asked, answers), problems


def _join(asked: Sequence[Asked], answers: Mapping[Asked, Finding]) -> dict[Stated, Finding]:
    """Return the strictest finding on the single sentences of each whole."""
    found: dict[Stated, list[Finding]] = defaultdict(list)
    for each in asked:
        found[each.whole].append(answers.get(each, each.unjudged))
    return {whole: _strictest(findings) for whole, findings in found.items()}


def _strictest(findings: Iterable[Finding]) -> Finding:
    return max(findings, key=lambda finding: STRICTER.index(finding.verdict))


def _check_by_code(
    sections: Sequence[Section], material: Material, known: Findings
) -> tuple[dict[Stated, Finding], list[Asked]]:
    """Return known findings and those by code, and the sentences that a model must judge."""
    findings, asked = dict(known), []
    for each in dict.fromkeys(one for section in sections for one in state_sentences(section)):
        if each in findings:
            continue
        cited, sentence = material.cited(each.ids), each.sentence
        # A cell says something about its row, so its own words are not all it says.
        own = each.in_words == sentence.text and own_words(sentence, cited)
        if cited and (own or own_cell(sentence.text, each.row, cited)):
            findings[each] = Finding("supported")
        elif is_count(sentence, cited, material.pages, material.question, Phrases(material.home)):
            findings[each] = Finding("inference")
        elif why := material.refused(sentence, cited):
            findings[each] = Finding("unsupported", why)
        elif sentence.code and not sentence.inferred:
            findings[each] = Finding("supported")
        else:
            parts = _left_to_judge(each, cited, material)
            asked += parts
            if not parts:
                findings[each] = Finding("supported")
    return findings, asked


def _left_to_judge(whole: Stated, cited: Sequence[Evidence], material: Material) -> list[Asked]:
    """Return the single sentences that a model must judge: not short row labels, which state
    nothing, nor self-contained verbatim quotes.
    """
    made = []
    for part in whole.parts:
        alone = part is not whole and not (part.row or leans(part.sentence))
        if alone and own_words(part.sentence, cited):
            continue
        unfounded = material.unfounded(part.sentence, cited)
        if whole.label and not unfounded and len(whole.sentence.text.split()) <= NAME_WORDS:
            continue
        note = unfounded or note_doubts(part.sentence, cited, material.home)
        made.append(Asked(whole, part, note, unfounded))
    return made


async def _ask_model(
    model: Model, asked: Sequence[Asked], material: Material, seconds: float
) -> tuple[dict[Asked, Finding], str]:
    """Return the model's findings, from concurrent calls, and why some are missing. A suspicious
    sentence must hold in both of two calls.
    """
    odd = [each for each in asked if each.note]
    waves = [replace(each, note="") for each in asked], odd
    batches = [wave[n : n + BATCH] for wave in waves for n in range(0, len(wave), BATCH)]
    done = await asyncio.gather(
        *(_batch(model, batch, material, seconds) for batch in batches), return_exceptions=True
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    if unmet := [each for each in failed if not isinstance(each, _FAILURES)]:
        raise unmet[0]
    answers: dict[Asked, Finding] = {}
    for each in done:
        answers |= {} if isinstance(each, BaseException) else each
    found = {}
    for one in asked:
        both = dict.fromkeys([replace(one, note=""), one])  # in order, for its reason
        said = [answers[each] for each in both if each in answers]
        if len(said) == len(both) or not all(finding.holds for finding in said):
            found[one] = _strictest(said)
    return found, str(failed[0]) if failed else "The model gave no verdict on them."


async def _batch(
    model: Model, batch: Sequence[Asked], material: Material, seconds: float
) -> dict[Asked, Finding]:
    cited = [material.cited(each.stated.ids) for each in batch]
    entries = {e.id: entry_of(e) for own in cited for e in own}
    items = [
        {
            "sentence": one.in_words if one.sentence.code else plain(one.in_words),
            "code": one.sentence.code,
            "ids": [e.id for e in own],
            "inferred": one.sentence.inferred,
            "note": each.note,
        }
        for each, own in zip(batch, cited, strict=True)
        for one in (each.stated,)
    ]
    answers = await ask(model, items, list(entries.values()), seconds=seconds)
    findings = {}
    for n, answer in answers.items():
        found = Finding(answer.verdict, answer.reason, answer.author)
        if found.verdict == "supported":
            inferred = batch[n - 1].stated.sentence.inferred
            found = Finding("inference" if inferred else "supported", judge=answer.author)
        findings[batch[n - 1]] = found
    return findings


async def ask(
    model: Model, items: Sequence[Mapping[str, object]], entries: Sequence[Entry], *, seconds: float
) -> dict[int, VerdictAnswer]:
    """Return the verdicts by item number from 1, the stricter of duplicates."""
    prompt = render("verifier", items=items, evidence=entries)
    answer = await model.ask("verifier", prompt, VerdictsAnswer, seconds=seconds)
    said = [v.signed(answer.author) for v in answer.verdicts if 1 <= v.number <= len(items)]
    return {v.number: v for v in sorted(said, key=lambda v: STRICTER.index(v.verdict))}
