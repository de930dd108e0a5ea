"""The verifier: what becomes of every sentence of a report.

A sentence that is its quote's own words holds. Code refuses what is surely in no page; all else is
put before a model, which sees the sentence and, of each entry it cites, the quote with its title,
heading, date and neighbours. What code finds odd is asked once more, with the reason. Without a
model that may judge, such a sentence could not be checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from spadework.agents.checking import flagged, refused
from spadework.agents.context import in_context, labels
from spadework.agents.model import Model
from spadework.agents.quoting import own_words
from spadework.agents.told import Entry, entry_of
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.orders import without_orders
from spadework.tools.quotes import plain
from spadework.values import Evidence, Problem, Section, Sentence, Verdict, Visible

#: Sentences put before the model in one call.
BATCH = 20

Ruling = Literal["supported", "partly", "contradicted", "unsupported", "could not check"]


#: What is met where a model cannot be asked.
_FAILURES = (ModelError, BudgetSpent)


class VerdictAnswer(Visible):
    """What the quotes of one sentence say of it, and the words that they do not bear out."""

    number: int
    verdict: Ruling
    missing: str = ""


class VerdictsAnswer(Visible):
    """The verdicts of all sentences shown."""

    verdicts: list[VerdictAnswer]


@dataclass(frozen=True)
class Finding:
    """What was found of a sentence, and why it does not hold."""

    verdict: Verdict
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether the sentence may stand in a report."""
        return self.verdict in ("supported", "inference", "could not check")


@dataclass(frozen=True)
class Material:
    """What sentences are checked against: entries of the ledger by id, the texts of their pages by
    content hash, and the question.
    """

    ledger: Mapping[str, Evidence]
    pages: Mapping[str, str]
    question: str

    def cited(self, sentence: Sentence) -> list[Evidence]:
        """The entries that a sentence cites, as far as there are such."""
        return [self.ledger[id_] for id_ in sentence.evidence_ids if id_ in self.ledger]

    def refused(self, sentence: Sentence, cited: Sequence[Evidence]) -> str:
        """Why code refuses a sentence that cites these; what speaks to machines bears nothing
        out.
        """
        hashes = dict.fromkeys(e.content_hash for e in cited)
        texts = [without_orders(self.pages.get(each, "")) for each in hashes]
        return refused(sentence, cited, texts, self.question)


@dataclass(frozen=True)
class Asked:
    """A sentence that is put before the model, as it is told there, with what code finds odd about
    it.
    """

    sentence: Sentence
    told: str
    note: str = ""


async def verify(
    model: Model | None,
    sections: Sequence[Section],
    material: Material,
    *,
    seconds: float,
    known: Container[Sentence] = (),
) -> tuple[dict[Sentence, Finding], list[Problem]]:
    """What is found of each sentence but those that are `known`, and the problem that the model
    could not be asked.
    """
    by_code, asked = await asyncio.to_thread(checked, sections, material, known)
    if not asked:
        return by_code, []
    unseen = {each.sentence: Finding("could not check") for each in asked}
    if model is None:
        return by_code | unseen, []
    try:
        return by_code | unseen | await _judged(model, asked, material, seconds), model.news(
            "verifier"
        )
    except (ModelError, BudgetSpent) as error:
        effect = f"{len(unseen)} sentences could not be checked by a model."
        problem = Problem(stage="model", subject="verifier", reason=str(error), effect=effect)
        return by_code | unseen, [*model.news("verifier"), problem]


def checked(
    sections: Sequence[Section], material: Material, known: Container[Sentence] = ()
) -> tuple[dict[Sentence, Finding], list[Asked]]:
    """What code finds by itself, and the sentences that a model must judge."""
    found: dict[Sentence, Finding] = {}
    asked: list[Asked] = []
    told = {one: text for section in sections for one, text in in_context(section).items()}
    named = {one: section for section in sections for one in labels(section)}
    for sentence in dict.fromkeys(one for section in sections for one in section.sentences):
        if sentence in known:
            continue
        cited = material.cited(sentence)
        if sentence in named and not cited:
            # What names a row needs no mark of its own.
            cited = [e for one in named[sentence].sentences for e in material.cited(one)]
        # A cell says something of its row, which is not in its own words.
        if cited and sentence not in told and own_words(sentence, cited):
            found[sentence] = Finding("supported")
        elif why := material.refused(sentence, cited):
            found[sentence] = Finding("unsupported", why)
        elif sentence in named or (sentence.code and not sentence.inferred):
            found[sentence] = Finding("supported")
        else:
            said = told.get(sentence, sentence.text)
            asked.append(Asked(sentence, said, flagged(sentence, cited)))
    return found, asked


async def _judged(
    model: Model, asked: Sequence[Asked], material: Material, seconds: float
) -> dict[Sentence, Finding]:
    """The model's findings, all calls in one wave. What is odd must hold in both of two."""
    plainly = [replace(each, note="") for each in asked]
    odd = [each for each in asked if each.note]
    batches = [
        group[n : n + BATCH] for group in (plainly, odd) for n in range(0, len(group), BATCH)
    ]
    done = await asyncio.gather(
        *(_batch(model, batch, material, seconds) for batch in batches), return_exceptions=True
    )
    failed = [each for each in done if isinstance(each, BaseException)]
    if len(failed) == len(done) or any(not isinstance(e, _FAILURES) for e in failed):
        raise failed[0]
    found: dict[Sentence, Finding] = {}
    for findings in done:
        if isinstance(findings, BaseException):
            continue
        for sentence, finding in findings.items():
            if sentence not in found or found[sentence].holds:
                found[sentence] = finding
    return found


async def _batch(
    model: Model, batch: Sequence[Asked], material: Material, seconds: float
) -> dict[Sentence, Finding]:
    entries = {e.id: entry_of(e) for each in batch for e in material.cited(each.sentence)}
    items = [
        {
            "sentence": each.told if each.sentence.code else plain(each.told),
            "ids": [e.id for e in material.cited(each.sentence)],
            "inferred": each.sentence.inferred,
            "note": each.note,
        }
        for each in batch
    ]
    answer = await ask(model, items, list(entries.values()), seconds=seconds)
    return {
        batch[n - 1].sentence: _finding(batch[n - 1].sentence, verdict)
        for n, verdict in answer.items()
    }


async def ask(
    model: Model, items: Sequence[Mapping[str, object]], entries: Sequence[Entry], *, seconds: float
) -> dict[int, VerdictAnswer]:
    """The verdicts of the items, by number from 1, as far as the model gives them."""
    prompt = render("verifier", items=items, evidence=entries)
    answer = await model.ask("verifier", prompt, VerdictsAnswer, seconds=seconds)
    return {v.number: v for v in answer.verdicts if 1 <= v.number <= len(items)}


def _finding(sentence: Sentence, answer: VerdictAnswer) -> Finding:
    if answer.verdict == "supported":
        return Finding("inference" if sentence.inferred else "supported")
    return Finding(answer.verdict, answer.missing)
