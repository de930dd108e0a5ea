"""The verifier: re-reads every citation.

What a sentence states (numbers, dates, names, denials) must stand in its quotes, and a quote in its
page. That is checked by code, and what code refuses no model can rescue. Only a sentence that says
it in quite other words is put before a model, all of them in one wave.

What fails is replaced by its quote or removed; its text is kept in the problems only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spadework.agents.fallback import first_of
from spadework.agents.model import Model
from spadework.prompts import render
from spadework.tools.facts import months, names, negated, numbers, spelled, stems
from spadework.tools.quotes import plain
from spadework.tools.sentences import sentences
from spadework.tools.tables import told
from spadework.tools.text.detect import spoken
from spadework.tools.urls import addresses
from spadework.values import Evidence, Problem, Section, Sentence, Verdict, Visible

#: Share of a sentence's content words that must stand in its quotes.
SHARED_WORDS = 0.5
#: From this share on they say it plainly enough; between the two a model is asked, where there is
#: one.
PLAIN_WORDS = 0.8
#: Sentences put before the model in one call.
BATCH = 20
#: Share from which a quote is about the same thing, so that a denial on one side only is a
#: contradiction.
SAME_THING = 0.6
#: A topic with fewer sentences of its own than this says again, up to so many, what stands in other
#: sections.
LEAST_SAID = 4
#: Sentences of a quote that stand in for one that did not hold.
MOST_QUOTED = 2


#: What a model found of the sentences that code could not decide.
Judged = Mapping[Sentence, Verdict]


class VerdictAnswer(Visible):
    """What the quotes of one sentence say of it."""

    number: int
    verdict: Verdict


class VerdictsAnswer(Visible):
    """The verdicts of all sentences shown."""

    verdicts: list[VerdictAnswer]


@dataclass(frozen=True)
class Verified:
    """Sections in which every sentence of fact is supported, with what was mended on the way."""

    sections: tuple[Section, ...]
    problems: tuple[Problem, ...]


async def judge(
    model: Model | None,
    sections: Sequence[Section],
    ledger: Mapping[str, Evidence],
    *,
    seconds: float,
) -> tuple[dict[Sentence, Verdict], list[Problem]]:
    """What the model finds of the sentences that code cannot decide, in one wave; {} without a
    model, or where it fails.
    """
    open_ones = [
        sentence
        for section in sections
        for sentence in section.sentences
        if _undecided(sentence, _quotes(sentence, ledger))
    ]
    if model is None or not open_ones:
        return {}, []
    unique = list(dict.fromkeys(open_ones))
    batches = [unique[n : n + BATCH] for n in range(0, len(unique), BATCH)]
    done = await asyncio.gather(*(_judged(model, batch, ledger, seconds) for batch in batches))
    return {s: v for found, _ in done for s, v in found.items()}, [
        problem for _, problems in done for problem in problems
    ]


async def _judged(
    model: Model, sentences: Sequence[Sentence], ledger: Mapping[str, Evidence], seconds: float
) -> tuple[dict[Sentence, Verdict], list[Problem]]:
    async def ask(model: Model) -> dict[Sentence, Verdict]:
        items = [
            {"sentence": plain(s.text), "quotes": "\n\n".join(_quotes(s, ledger))}
            for s in sentences
        ]
        answer = await model.ask(
            "verifier", render("verifier", items=items), VerdictsAnswer, seconds=seconds
        )
        return {
            sentences[v.number - 1]: v.verdict
            for v in answer.verdicts
            if 1 <= v.number <= len(sentences)
        }

    return await first_of(model, "verifier", "citations", ask, dict)


def verify(
    sections: Sequence[Section],
    ledger: Mapping[str, Evidence],
    texts: Mapping[str, str],
    judged: Judged | None = None,
) -> Verified:
    """Check every sentence of `sections` against the ledger; `texts` are the pages by content hash,
    `judged` what a model found.
    """
    standing = {
        id_: e
        for id_, e in ledger.items()
        if texts.get(e.content_hash, "")[e.start : e.end] == e.quote
    }
    problems = [
        Problem(
            stage="verifier",
            subject=id_,
            reason="The quote does not stand in its stored page.",
            effect="It was not used.",
        )
        for id_ in ledger
        if id_ not in standing
    ]
    kept = []
    said: set[str] = set()
    for section in sections:
        # A summary repeats what the sections say; they do not repeat each other.
        mended, found = _section(
            section, standing, set() if section.kind == "summary" else said, judged or {}
        )
        kept.append(mended)
        problems.extend(found)
    return Verified(tuple(s for s in kept if s.sentences), tuple(problems))


def verdict(sentence: Sentence, quotes: Sequence[str]) -> Verdict:
    """Whether the quotes carry the sentence."""
    if not quotes:
        return "unsupported"
    if sentence.code:
        return (
            "supported"
            if any(sentence.text.strip("\n") in quote for quote in quotes)
            else "unsupported"
        )
    together = " ".join(plain(quote) for quote in quotes)
    words = plain(sentence.text)
    if " ".join(words.split()) in " ".join(together.split()):
        return "supported"
    if not _stated(words, together):
        return "unsupported"
    return "contradicted" if _denied(words, quotes) else "supported"


def _undecided(sentence: Sentence, quotes: Sequence[str]) -> bool:
    """Whether a sentence holds by all that code can check, but says it in so many other words that
    this is not enough.
    """
    if sentence.code or verdict(sentence, quotes) != "supported":
        return False
    quoted = " ".join(plain(quote) for quote in quotes)
    code = spoken(quoted)
    own, there = stems(plain(sentence.text), code), stems(quoted, code)
    return len(own & there) < PLAIN_WORDS * len(own)


def _quotes(sentence: Sentence, ledger: Mapping[str, Evidence]) -> list[str]:
    return [ledger[id_].quote for id_ in sentence.evidence_ids if id_ in ledger]


def _stated(sentence: str, quotes: str) -> bool:
    """The sentence's numbers, months and names, and enough of its words, stand in the quotes."""
    if not addresses(sentence) <= addresses(quotes):
        return False
    code = spoken(quotes, sentence)
    there = numbers(quotes, code) | spelled(quotes, code) | months(quotes, code)
    if not (numbers(sentence, code) | (spelled(sentence, code) - {"1"})) <= there:
        return False
    low = quotes.lower()
    if not all(name in low for name in names(sentence)):
        return False
    own = stems(sentence, code)
    return not own or len(own & stems(quotes, code)) / len(own) >= SHARED_WORDS


def _denied(sentence: str, quotes: Sequence[str]) -> bool:
    """The sentence denies what the quotes say, or says what they deny."""
    code = spoken(*quotes, sentence)
    if negated(sentence, code):
        return not any(negated(quote, code) for quote in quotes)
    own = stems(sentence, code)
    about = [q for q in quotes if own and len(own & stems(q, code)) / len(own) >= SAME_THING]
    return bool(about) and all(negated(quote, code) for quote in about)


def _section(
    section: Section, ledger: Mapping[str, Evidence], said: set[str], judged: Judged
) -> tuple[Section, list[Problem]]:
    held: list[Sentence] = []
    problems: list[Problem] = []
    for sentence in section.sentences:
        cited = _with_columns([id_ for id_ in sentence.evidence_ids if id_ in ledger], ledger)
        checked = sentence.model_copy(update={"evidence_ids": cited})
        found = verdict(checked, _quotes(checked, ledger))
        if found == "supported" and judged.get(sentence) in ("contradicted", "unsupported"):
            found = judged[sentence]
        if (
            found == "supported"
            and not checked.code
            and all(ledger[id_].kind == "code" for id_ in cited)
        ):
            # Code that was written as prose.
            checked = quoted(ledger[cited[0]], sentence.text)
        if found != "supported":
            # The names of columns alone say nothing.
            telling = [id_ for id_ in cited if ledger[id_].kind != "columns"]
            problems.append(_problem(section, sentence, found, (bool(cited), bool(telling))))
            if not telling:
                continue
            checked = quoted(
                ledger[telling[0]], sentence.text, columns_of(ledger[telling[0]], ledger.values())
            )
        held.append(checked)
    kept = _once(held, said)
    said.update(sentence.text for sentence in held)
    return section.model_copy(update={"sentences": tuple(kept)}), problems


def _with_columns(cited: Sequence[str], ledger: Mapping[str, Evidence]) -> tuple[str, ...]:
    """What is cited, rows first, each with the names of its columns: they say what its cells
    are.
    """
    found = [columns_of(ledger[id_], ledger.values()) for id_ in cited]
    ordered = sorted(cited, key=lambda id_: ledger[id_].kind == "columns")
    return tuple(dict.fromkeys([*ordered, *(e.id for e in found if e)]))


def _once(sentences: Sequence[Sentence], said: set[str]) -> list[Sentence]:
    """The sentences that no section before says; where they are few, the best of the others, too:
    an answer stands with its question.
    """
    own = list(dict.fromkeys(sentence for sentence in sentences if sentence.text not in said))
    speaking = (
        [s for s in sentences if s.text in said and not s.code and not s.text.endswith(":")]
        if len(own) < LEAST_SAID
        else []
    )
    again = speaking[: LEAST_SAID - len(own)] or (sentences[:1] if not own else [])
    return [
        sentence for sentence in dict.fromkeys(sentences) if sentence in own or sentence in again
    ]


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """The entry with the names of the columns of a row: those of its own table."""
    if row.kind != "row" or row.columns is None:
        return None
    return next(
        (
            e
            for e in ledger
            if e.kind == "columns" and (e.content_hash, e.start) == (row.content_hash, row.columns)
        ),
        None,
    )


def quoted(evidence: Evidence, instead_of: str = "", columns: Evidence | None = None) -> Sentence:
    """The sentence that is the quote itself; of one of many sentences those nearest to what it
    stands for.

    A row of a table is told with the names of its `columns`.
    """
    if evidence.kind in ("row", "cells"):
        ids = (evidence.id, columns.id) if columns else (evidence.id,)
        return Sentence(
            text=" ".join(told(columns.quote if columns else "", evidence.quote).split()),
            evidence_ids=ids,
        )
    if evidence.kind == "code":
        return Sentence(
            text=evidence.quote, evidence_ids=(evidence.id,), code=True, language=evidence.language
        )
    said = [evidence.quote[start:end] for start, end in sentences(evidence.quote)]
    if instead_of and len(said) > MOST_QUOTED:
        wanted = stems(plain(instead_of))
        nearest = sorted(range(len(said)), key=lambda n: -len(wanted & stems(plain(said[n]))))[
            :MOST_QUOTED
        ]
        said = [said[n] for n in sorted(nearest)]
    return Sentence(
        text=" ".join(" ".join(said or [evidence.quote]).split()), evidence_ids=(evidence.id,)
    )


def _problem(
    section: Section, sentence: Sentence, found: Verdict, cites: tuple[bool, bool]
) -> Problem:
    """What became of a sentence; `cites` says whether it cites evidence, and any that can stand in
    for it.
    """
    effect = "It was replaced by its quote." if cites[1] else "It was removed."
    reason = (
        f"A sentence was {found} by its evidence: {sentence.text[:300]}"
        if cites[0]
        else f"A sentence cites no evidence: {sentence.text[:300]}"
    )
    return Problem(stage="verifier", subject=section.heading, reason=reason, effect=effect)
