"""Classify follow-ups to a report and revise its sections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple

from spadework.agents.evidence.expectation import holds_expected
from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive import lead
from spadework.agents.extractive.judge import Scored, judge_passages
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.agents.outline import MOST_SECTIONS
from spadework.agents.report.checks import Known, keep_founded_heading
from spadework.agents.report.marked_text import one_a_heading, section_of, with_marks
from spadework.agents.report.material import entries_of
from spadework.agents.writer import with_code
from spadework.errors import BadReply
from spadework.prompts import Prompt, render
from spadework.tools.ranking.relevance import Bm25
from spadework.tools.text import tokens
from spadework.tools.text.language import Language, codes, language, spoken
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import Evidence, Page, Plan, Problem, Question, Section, Value, Visible
from spadework.visible import one_line

#: What a follow-up asks for: `form` (rewording), `more` (a search for what is missing), `known`
#: (an answer from existing evidence) or `new` (research on a new question).
TurnKind = Literal["new", "more", "form", "known"]
UNSEARCHED = ("form", "known")
#: Maximum evidence entries that answer a follow-up, and maximum tokens of evidence shown to the
#: lead model.
MOST_PROOFS, LEDGER_TOKENS = 12, 4_000
#: Maximum characters in a question or heading that a model suggests.
MOST_CHARS = 300
Lengthened = Literal["", "shorter", "longer"]

_WORDS = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[a-z]{2,3}")


class Turn(Value):
    """A classified follow-up.
    - `language`: the code of a newly requested language, or "".
    - `proofs`: the ids of the ledger entries that answer the follow-up.
    - `score`: how well these entries answer it, from 0 to 1.
    - `question`, `heading`: the follow-up as a self-contained question and heading, or "".
    """

    kind: TurnKind
    language: str = ""
    length: Lengthened = ""
    proofs: tuple[str, ...] = ()
    score: float = 0.0
    question: str = ""
    heading: str = ""


class TurnAnswer(Visible):
    """A model's classification of a follow-up.
    - `language`: a language code, or "" for no change.
    - `evidence`: if `kind` is `known`, the ids of the entries that answer the follow-up.
    - `question`, `heading`: if `kind` is `known`, the follow-up as a self-contained question and
      heading.
    """

    kind: TurnKind
    language: str
    evidence: list[str] = at_most(MOST_PROOFS, [])
    question: str = ""
    heading: str = ""


class Reported(NamedTuple):
    """The report that a follow-up refers to. `pages` is keyed by content hash."""

    question: str
    sections: Sequence[Section]
    ledger: Sequence[Evidence]
    pages: Mapping[str, Page]


async def turn_of(
    model: Model | None, asked: Question, report: Reported, *, seconds: float
) -> tuple[Turn, list[Problem]]:
    """Classify a follow-up to a report."""
    if (sure := sure_turn(asked.text)) is not None:
        return sure, []
    if model is None:
        return await asyncio.to_thread(_by_code, asked, report), []
    prompt = render(
        "turn",
        asked=asked.text,
        question=report.question,
        headings=[section.heading for section in report.sections],
        evidence=entries_of(await shown_of(asked.text, report.ledger)),
    )

    async def ask(model: Model) -> Turn:
        answer = await model.ask("lead", prompt, TurnAnswer, seconds=seconds)
        return _build_turn(answer, report)

    effect = "The follow-up was researched as a new question."
    return await first_of(model, "lead", "follow-up", ask, lambda: Turn(kind="new"), effect)


def _build_turn(answer: TurnAnswer, report: Reported) -> Turn:
    code = answer.language.strip().lower().partition("-")[0]
    named = code if _CODE.fullmatch(code) else ""
    if answer.kind != "known":
        return Turn(kind=answer.kind, language=named)
    ids = {e.id for e in report.ledger}
    named_ids = (said.strip(" []") for said in answer.evidence)
    proofs = tuple(dict.fromkeys(i for i in named_ids if i in ids))[:MOST_PROOFS]
    if not proofs:
        return Turn(kind="new")
    question, heading = (
        "" if is_injection(said) else one_line(said, MOST_CHARS)
        for said in (answer.question, answer.heading)
    )
    return Turn(kind="known", proofs=proofs, score=1.0, question=question, heading=heading)


def _by_code(asked: Question, report: Reported) -> Turn:
    if requested_addition(asked.text):
        return Turn(kind="more")
    proofs, score = recall_answer(asked, report.ledger, report.pages)
    return Turn(kind="known", proofs=proofs, score=score) if proofs else Turn(kind="new")


async def shown_of(asked: str, ledger: Sequence[Evidence]) -> list[Evidence]:
    """Return the entries most relevant to `asked`, in ledger order and within LEDGER_TOKENS."""
    await tokens.ready()
    entries = [e for e in ledger if e.kind != "columns"]
    index = Bm25(
        [f"{e.title} {e.heading} {e.quote}" for e in entries], [spoken(e.quote) for e in entries]
    )
    best = sorted(zip(index.scores(asked), range(len(entries)), strict=True), key=lambda s: -s[0])
    sizes = accumulate(tokens.count(entries[n].quote) for _, n in best)
    kept = {n for (_, n), size in zip(best, sizes, strict=True) if size <= LEDGER_TOKENS}
    return [e for n, e in enumerate(entries) if n in kept]


def sure_turn(asked: str) -> Turn | None:
    """Classify a follow-up that only asks for another form ("shorter"). Return None for others."""
    return next(filter(None, (_form(asked, language(code)) for code in codes())), None)


def _form(asked: str, spoken: Language) -> Turn | None:
    named = spoken.revises
    if not named or ("?" in asked and not named["do"].search(asked)):
        # A text with a question mark is a request only if it is worded as one, such as "Can you say
        # it in Spanish?". "Could it be Spanish?" is a real question.
        return None
    left, found = asked, dict[str, bool]()
    for name in ("shorter", "longer", "set"):
        left, count = named[name].subn(" ", left)
        found[name] = count > 0
    left = named["do"].sub(" ", named["polite"].sub(" ", left))
    words = [word.lower() for word in _WORDS.findall(left)]
    tongues = {spoken.tongues.get(word, "") for word in words}
    if "" in tongues or len(tongues) > 1 or not (tongues or any(found.values())):
        return None
    if found["shorter"] and found["longer"]:
        return None
    length: Lengthened = "shorter" if found["shorter"] else "longer" if found["longer"] else ""
    return Turn(kind="form", language=next(iter(tongues), ""), length=length)


def requested_addition(asked: str) -> str:
    """Return what a follow-up asks to add ("the costs" for "Please add the costs"), or ""."""
    for named in (language(code).revises for code in codes()):
        if named and (found := named["add"].match(left := _unpolite(asked, named["polite"]))):
            return left[found.end() :].strip(" \t\n:,;")
    return ""


def _unpolite(asked: str, polite: re.Pattern[str]) -> str:
    left = asked.strip()
    while found := polite.match(left):
        left = left[found.end() :].lstrip(" ,;:!.")
    return left


#: The fraction of the context window reserved for evidence. The rest is for the report and the
#: answer.
EVIDENCE_SHARE = 0.6


class RevisedAnswer(Visible):
    """The new text of section `number`, or of an added section if `number` is 0."""

    number: int
    heading: str
    markdown: str


class RevisionAnswer(Reply):
    """Changes to a report. `left_out` lists the numbers of the sections to remove."""

    title: str
    sections: list[RevisedAnswer] = at_most(2 * MOST_SECTIONS)
    left_out: list[int] = at_most(MOST_SECTIONS, [])


@dataclass(frozen=True)
class Told:
    """A report, and the revision `asked` for (on `asked_on`). `more`: ids of new ledger entries."""

    plan: Plan
    title: str
    sections: Sequence[Section]
    ledger: Sequence[Evidence]
    asked: str
    more: Sequence[str] = ()
    asked_on: str = ""


@dataclass(frozen=True)
class Revision:
    """A revised report. `places` maps headings to their sections' positions in the old report."""

    title: str
    sections: tuple[Section, ...]
    places: Mapping[str, int]


async def revise(model: Model, told: Told, *, window: int, seconds: float) -> Revision:
    """Return the revised, still unverified report. Raises ModelError or BudgetSpent."""
    await tokens.ready()
    prompt = prompt_of(told, window)
    return _revision(told, await model.ask("writer", prompt, RevisionAnswer, seconds=seconds))


def prompt_of(told: Told, window: int) -> Prompt:
    """Return a prompt with the report, the evidence that it cites, and other evidence as far as it
    fits. `window` is the size of the context window in tokens.
    """
    return render(
        "revise",
        question=told.plan.question,
        asked=told.asked,
        wishes=told.plan.wishes,
        title=told.title,
        language=told.plan.language,
        more=list(told.more),
        asked_on=told.asked_on,
        sections=[{"heading": s.heading, "markdown": with_marks(s)} for s in told.sections],
        evidence=entries_of(_with_room(told, int(EVIDENCE_SHARE * window))),
    )


def _with_room(told: Told, room: int) -> list[Evidence]:
    cited = {i for section in told.sections for one in section.sentences for i in one.evidence_ids}
    first = {*told.more, *cited}
    kept: list[Evidence] = []
    for entry in sorted(told.ledger, key=lambda e: e.id not in first):
        room -= tokens.count(" ".join((entry.quote, entry.before, entry.after)))
        if room < 0 and entry.id not in first:
            break
        kept.append(entry)
    return kept


def _revision(told: Told, answer: RevisionAnswer) -> Revision:
    said = [told.asked, told.plan.question, told.title]
    said += [f"{e.title}\n{e.heading}\n{e.claim}\n{e.quote}" for e in told.ledger]
    said += [section.heading for section in told.sections]
    texts = [Known(text) for text in said]
    home = told.plan.language[:2].lower()
    numbers = {section.heading.casefold(): n for n, section in enumerate(told.sections)}
    # A request to add something must not remove a section.
    gone = () if told.more else {n - 1 for n in answer.left_out}
    made: list[list[Section]] = [
        [] if n in gone else [section] for n, section in enumerate(told.sections)
    ]
    behind: list[Section] = []
    at = behind
    for one in answer.sections:
        if not (0 <= one.number <= len(told.sections) and one.markdown.strip()):
            continue
        before = told.sections[one.number - 1] if one.number else None
        at = made[one.number - 1] if before else at
        heading = keep_founded_heading(one.heading, texts, home) or (
            before.heading if before else told.asked
        )
        taken = numbers.get(heading.casefold())
        if before and taken is not None:
            heading = before.heading
        section = section_of(heading, one.markdown).made_by(answer.author)
        section = with_code(section, told.ledger)
        if before is None:
            (at if taken is None else made[taken]).append(section)
        elif not same(before, section):
            at[:1] = [section.model_copy(update={"kind": before.kind})]
    made = [list(one_a_heading(own)) for own in made]
    whole = one_a_heading([section for own in (*made, behind) for section in own])
    if not any(section.sentences for section in whole):
        raise BadReply("The revised report has no sentences.")
    places = {own[0].heading: n for n, own in enumerate(made) if own}
    return Revision(keep_founded_heading(answer.title, texts, home) or told.title, whole, places)


def same(one: Section, other: Section) -> bool:
    """Return whether two sections have the same heading, text and layout."""
    return one.heading == other.heading and with_marks(one) == with_marks(other)


def recall_answer(
    question: Question, ledger: Sequence[Evidence], pages: Mapping[str, Page]
) -> tuple[tuple[str, ...], float]:
    """Return the ids of the entries that answer a question, best first, and how well they answer
    it, from 0 to 1. Return no ids for questions about recent events or several topics. `pages`
    is keyed by content hash.
    """
    made = lead.plan(question, [])
    entries = [e for e in ledger if e.kind != "columns" and e.content_hash in pages]
    if made.freshness != "any" or len(made.topics) != 1 or not entries:
        return (), 0.0
    [topic] = made.topics
    codes = [spoken(e.quote) for e in entries]
    index = Bm25([f"{e.title} {e.heading} {e.quote}" for e in entries], codes)
    shown = [
        PassageView(pages[e.content_hash], e.start, e.quote, e.heading, score=score)
        for e, score in zip(entries, index.scores(topic.question), strict=True)
    ]
    opinion = judge_passages(topic.question, shown)
    found = list(dict.fromkeys(e for one in opinion.chosen for e in _entries_at(one, entries)))
    enough = opinion.proven and holds_expected(topic, found)
    return tuple(e.id for e in found) if enough else (), round(opinion.share, 3)


def _entries_at(one: Scored, entries: Sequence[Evidence]) -> list[Evidence]:
    at = one.candidate
    return [
        e
        for e in entries
        if e.content_hash == at.shown.page.content_hash and e.start < at.end and at.start < e.end
    ]
