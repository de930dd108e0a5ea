"""Judge every sentence of a report.

Fixed rules accept verbatim quotes, and reject code and addresses that no source contains. A model
judges the rest. Without a model, a sentence is rejected if a figure, date or name in it is on no
cited page. Other sentences are kept as "could not check".
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from spadework.agents.evidence.counts import is_count
from spadework.agents.extractive.writer import own_cell, own_words
from spadework.agents.llm.client import Model
from spadework.agents.llm.structured_output import Reply
from spadework.agents.report.checks import note_doubts
from spadework.agents.report.material import Entry, Material, entries_of, with_columns
from spadework.agents.report.sentence_context import LEAD_WORDS, Stated, leans, state_sentences
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.text.language import Phrases
from spadework.tools.text.markdown import plain
from spadework.tools.text.sentences import leads
from spadework.values import CODE, NOBODY, Evidence, Problem, Section, Sentence, Verdict

#: Maximum sentences per model call.
BATCH = 30

Ruling = Literal["supported", "partly", "contradicted", "unsupported", "could not check"]
#: The verdicts, from the most lenient to the strictest. If a sentence gets two verdicts, the
#: stricter one applies.
STRICTER: tuple[Verdict, ...] = (
    "supported",
    "inference",
    "could not check",
    "partly",
    "unsupported",
    "contradicted",
)

_FAILURES = (ModelError, BudgetSpent)


class VerdictAnswer(Reply):
    """The verdict on a sentence, its unsupported words, and what the evidence says instead."""

    number: int
    verdict: Ruling
    missing: str = ""
    evidence_says: str = ""

    @property
    def reason(self) -> str:
        """Why the sentence fails, as feedback for the writer."""
        instead = self.evidence_says and f"The evidence says: {self.evidence_says}"
        return " ".join(filter(None, (self.missing and f"Not borne out: {self.missing}.", instead)))


class VerdictsAnswer(Reply):
    """The verdicts on the given sentences."""

    verdicts: list[VerdictAnswer]


@dataclass(frozen=True)
class Finding:
    """A verdict on a sentence and, if it failed, the reason. `judge` is a model's name, `CODE` for
    a verdict without a model, or `NOBODY` if the sentence was not judged.
    """

    verdict: Verdict
    why: str = ""
    judge: str = CODE

    @property
    def holds(self) -> bool:
        """Whether the sentence may stay in the report."""
        return self.verdict in ("supported", "inference", "could not check")


UNCHECKED = Finding("could not check", judge=NOBODY)
Findings = Mapping[Stated, Finding]


@dataclass(frozen=True)
class Checked:
    """A section, and the finding on each of its sentences, in order."""

    section: Section
    findings: tuple[Finding, ...]

    def changed(self, changes: Mapping[int, Sequence[Sentence]]) -> Checked:
        """Replace or remove sentences by position. A replacement keeps the original's finding."""
        found = (
            finding
            for n, finding in enumerate(self.findings)
            for _ in changes.get(n, self.section.sentences[n : n + 1])
        )
        return Checked(self.section.changed(changes), tuple(found))


def judge_section(section: Section, findings: Findings) -> Checked:
    """Return a section with the findings on its sentences."""
    return Checked(section, tuple(findings[each] for each in state_sentences(section)))


@dataclass(frozen=True)
class Asked:
    """A sentence for a model to judge.
    - `whole`: the text that contains the sentence.
    - `stated`: the sentence itself.
    - `note`: doubts to point out to the model, or "".
    - `unfounded`: the reason to reject the sentence if no model judges it, or "".
    """

    whole: Stated
    stated: Stated
    note: str = ""
    unfounded: str = ""

    @property
    def unjudged(self) -> Finding:
        """The finding if no model judges the sentence."""
        return Finding("unsupported", self.unfounded) if self.unfounded else UNCHECKED


async def verify(
    model: Model | None,
    sections: Sequence[Section],
    material: Material,
    *,
    seconds: float,
    known: Findings = MappingProxyType({}),
) -> tuple[dict[Stated, Finding], list[Problem]]:
    """Check all sentences, reusing the `known` findings. Return all findings and the problems."""
    findings, asked = await asyncio.to_thread(_check_by_code, sections, material, known)
    if not asked or model is None:
        return findings | _join(asked, {}), []
    answers, why = await _ask_model(model, asked, material, seconds)
    problems = model.news("verifier")
    if unseen := len(asked) - len(answers):
        sentences = "1 sentence" if unseen == 1 else f"{unseen} sentences"
        effect = f"{sentences} could not be checked by a model."
        problems += [Problem(stage="model", subject="verifier", reason=why, effect=effect)]
    return findings | _join(asked, answers), problems


def _join(asked: Sequence[Asked], answers: Mapping[Asked, Finding]) -> dict[Stated, Finding]:
    found: dict[Stated, list[Finding]] = defaultdict(list)
    for each in asked:
        found[each.whole].append(answers.get(each, each.unjudged))
    strictness = STRICTER.index
    return {k: max(found[k], key=lambda finding: strictness(finding.verdict)) for k in found}


def _check_by_code(
    sections: Sequence[Section], material: Material, known: Findings
) -> tuple[dict[Stated, Finding], list[Asked]]:
    findings, asked = dict(known), []
    say = Phrases(material.home)
    stated = dict.fromkeys(one for section in sections for one in state_sentences(section))
    led = " ".join(one.follows for one in stated)
    for each in stated:
        if each in findings:
            continue
        cited, sentence = material.cited(each.ids), each.sentence
        # Accept a sentence as a verbatim quote only if it needs no context. For example, a quote
        # that contains the words of a table cell does not prove what the cell says about its row.
        own = each.in_words == sentence.text and own_words(sentence, cited)
        if cited and (own or own_cell(sentence.text, each.row, cited)):
            findings[each] = Finding("supported")
        elif is_count(sentence, cited, material.pages, material.question, say, material.questions):
            findings[each] = Finding("inference")
        elif why := material.refused(sentence, cited):
            findings[each] = Finding("unsupported", why)
        elif sentence.code and not sentence.inferred:
            findings[each] = Finding("supported")
        else:
            parts = _left_to_judge(each, cited, material, led)
            asked += parts
            if not parts:
                findings[each] = Finding("supported")
    return findings, asked


def _left_to_judge(
    whole: Stated, cited: Sequence[Evidence], material: Material, led: str
) -> list[Asked]:
    """Return the sentences of `whole` that a model must judge. Omit row labels and introductions
    quoted in `led`, because they are judged with the sentences that they introduce.
    """
    text = whole.sentence.text
    short = leads(text) and len(text.split()) <= LEAD_WORDS
    introduces = whole.label or (short and f"“{text}”" in led)
    made = []
    for part in whole.parts:
        alone = part is not whole and not (part.row or leans(part.sentence))
        if alone and own_words(part.sentence, cited):
            continue
        unfounded = material.unfounded(part.sentence, cited)
        if introduces and not unfounded:
            continue
        note = unfounded or note_doubts(part.sentence, cited, material.home)
        made.append(Asked(whole, part, note, unfounded))
    return made


async def _ask_model(
    model: Model, asked: Sequence[Asked], material: Material, seconds: float
) -> tuple[dict[Asked, Finding], str]:
    # Sort by the first entry that a sentence cites, so that sentences citing the same entry share
    # a model call, which shows the entry only once.
    places = {id_: n for n, id_ in enumerate(material.ledger)}
    order = sorted(asked, key=lambda each: [places.get(id_, -1) for id_ in each.stated.ids[:1]])
    batches = [order[n : n + BATCH] for n in range(0, len(order), BATCH)]
    done = await asyncio.gather(
        *(_batch(model, batch, material, seconds) for batch in batches), return_exceptions=True
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    if unmet := [each for each in failed if not isinstance(each, _FAILURES)]:
        raise unmet[0]
    answers: dict[Asked, Finding] = {}
    for each in done:
        answers |= {} if isinstance(each, BaseException) else each
    return answers, str(failed[0]) if failed else "The model gave no verdict on them."


async def _batch(
    model: Model, batch: Sequence[Asked], material: Material, seconds: float
) -> dict[Asked, Finding]:
    cited = [material.cited(each.stated.ids) for each in batch]
    shown = with_columns([e for own in cited for e in own], [*material.ledger.values()])
    entries = entries_of(shown, around=True)
    items = [
        {
            "sentence": one.for_judge if one.sentence.code else plain(one.for_judge),
            "code": one.sentence.code,
            "ids": [e.id for e in own],
            "inferred": one.sentence.inferred,
            "note": each.note,
        }
        for each, own in zip(batch, cited, strict=True)
        for one in (each.stated,)
    ]
    answers = await ask(model, items, entries, seconds=seconds)
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
    """Return the verdicts by item number (from 1), the strictest if an item has several."""
    prompt = render("verifier", items=items, evidence=entries)
    answer = await model.ask("verifier", prompt, VerdictsAnswer, seconds=seconds)
    said = [v.signed(answer.author) for v in answer.verdicts if 1 <= v.number <= len(items)]
    return {v.number: v for v in sorted(said, key=lambda v: STRICTER.index(v.verdict))}
