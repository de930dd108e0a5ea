"""The outline: one call composes the report from the ledger before it is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from spadework.agents.editor import day_of
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.agents.report.checks import Known as Text
from spadework.agents.report.checks import keep_founded_heading
from spadework.agents.report.material import each_once, line_of, place_of, speaks_of
from spadework.prompts import render
from spadework.tools.text.facts import nearest
from spadework.tools.text.language import Phrases
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import Conflict, Coverage, Evidence, Plan, Problem, Visible

#: The material of a section, which decides its layout.
SectionForm = Literal["prose", "steps", "table", "timeline", "bullets", "code", "advice"]
#: Maximum sections of a report, columns of a table, and names shared by sections.
MOST_SECTIONS, MOST_COLUMNS, MOST_NAMES = 12, 6, 12
#: Words of a report by requested length.
WORDS: Mapping[str, int] = {"short": 200, "normal": 700, "long": 1_800}


class OutlinedAnswer(Visible):
    """A section as it is planned."""

    heading: str
    shows: str
    form: SectionForm
    columns: list[str] = at_most(MOST_COLUMNS, [])
    evidence_ids: list[str]
    answers: list[int] = Field([])
    words: int


class OutlineAnswer(Reply):
    """The composition of a report."""

    title: str
    answer: str
    sections: list[OutlinedAnswer] = at_most(MOST_SECTIONS)
    left_out: list[str] = Field([])
    names: list[str] = at_most(MOST_NAMES, [])


@dataclass(frozen=True)
class Outlined:
    """A planned section: its entries and approximate words (0: as needed)."""

    heading: str
    shows: str
    evidence: tuple[Evidence, ...]
    form: SectionForm = "prose"
    columns: tuple[str, ...] = ()
    words: int = 0


@dataclass(frozen=True)
class Outline:
    """The composition of a report; `answer` is its short answer, with marks, by the model `author`.
    `left_out` are ids of unused entries; `missing` are aspects that no section covers; `names` are
    terms used consistently in all sections.
    """

    sections: tuple[Outlined, ...]
    title: str = ""
    answer: str = ""
    author: str = ""
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """What a report considers in addition to evidence: coverage of its topics, conflicts, default
    and maximum words (0: no limit), and the date of the question.
    """

    coverage: Mapping[str, Coverage]
    conflicts: Sequence[Conflict]
    words: int
    most_words: int = 0
    asked_on: str = ""


def by_topic(plan: Plan, ledger: Sequence[Evidence], words: int = 0) -> Outline:
    """Return an outline by code: a section for every topic with evidence."""
    topics = [(topic, [e for e in ledger if e.topic == topic.name]) for topic in plan.topics]
    found = [(topic, own) for topic, own in topics if own]
    share = words // max(1, len(found))
    return Outline(
        tuple(Outlined(topic.name, topic.question, tuple(own), words=share) for topic, own in found)
    )


async def outline(
    model: Model, plan: Plan, ledger: Sequence[Evidence], known: Known, *, seconds: float
) -> tuple[Outline, list[Problem]]:
    """Return the writer model's outline; by topic if it fails."""
    prompt = render(
        "outline",
        plan=plan,
        # "SQLite" alone says nothing.
        musts=[
            (must, ", ".join(topic.name for topic in plan.topics if must in topic.must_cover))
            for must in musts_of(plan)
        ],
        lines=[line_of(e) for e in each_once(ledger) if e.kind != "columns"],
        open_ones=[
            (c.topic, c.state, c.gaps) for c in known.coverage.values() if c.state != "answered"
        ],
        conflicts=[
            *(_sides_of(conflict, ledger) for conflict in known.conflicts),
            *(f"{c.topic}: {one}" for c in known.coverage.values() for one in c.differences),
        ],
        words=known.words,
        most_words=known.most_words,
        asked_on=known.asked_on,
    )

    async def ask(model: Model) -> Outline:
        answer = await model.ask("writer", prompt, OutlineAnswer, seconds=seconds)
        return _check_outline(answer, ledger, plan) or instead()

    def instead() -> Outline:
        return by_topic(plan, ledger, known.words)

    effect = "The report has a section for every topic."
    return await first_of(model, "writer", "outline", ask, instead, effect)


def _sides_of(conflict: Conflict, ledger: Sequence[Evidence]) -> str:
    entries = {e.id: e for e in ledger}
    sides = ((side.claim, day_of(side, entries)) for side in conflict.sides)
    told = (f"{claim} ({day})" if day else claim for claim, day in sides)
    return f"{conflict.topic}: {' / '.join(told)}"


def is_summary(heading: str, code: str) -> bool:
    """Return whether a heading is that of the summary."""
    return heading.casefold() == Phrases(code)("summary").casefold()


def musts_of(plan: Plan) -> list[str]:
    """Return the distinct required aspects of all topics."""
    return list(dict.fromkeys(must for topic in plan.topics for must in topic.must_cover))


def _check_outline(answer: OutlineAnswer, ledger: Sequence[Evidence], plan: Plan) -> Outline | None:
    """Return the outline with existing entries and merged headings; None if no section has any.
    Headings and titles that no entry supports, or that instruct machines, are dropped.

    Nothing is lost: an entry neither named nor left out goes to the nearest section, and a topic
    without entries in any section gets its own.
    """
    known = {e.id: e for e in (*ledger, *each_once(ledger))}
    said = (f"{e.title}\n{e.heading}\n{e.claim}\n{e.quote}" for e in ledger)
    texts = [Text(text) for text in (plan.question, *said)]
    home = plan.language.lower()[:2]
    made: dict[str, Outlined] = {}
    for one in answer.sections:
        own = _with_columns([known[i] for i in one.evidence_ids if i in known], ledger)
        if not own:
            continue
        heading = keep_founded_heading(one.heading, texts, home) or own[0].topic
        if is_summary(heading, plan.language):
            # The summary is written last, from verified sentences.
            heading = own[0].topic
        same = made.get(heading.casefold())
        if same:
            joined = tuple(dict.fromkeys([*same.evidence, *own]))
            made[heading.casefold()] = replace(same, evidence=joined)
            continue
        columns = tuple(keep_founded_heading(column, texts, home) for column in one.columns)
        words = max(0, one.words)
        made[heading.casefold()] = Outlined(heading, one.shows, own, one.form, columns, words)
    if not made:
        return None
    unwanted = set(answer.left_out)
    wanted = [e for e in ledger if e.id not in unwanted]
    sections = [*made.values(), *_of_forgotten_topics(list(made.values()), wanted, plan)]
    whole, left_out = _with_forgotten(sections, ledger, unwanted)
    told = {
        n
        for one in answer.sections
        if any(i in known for i in one.evidence_ids)
        for n in one.answers
    }
    missing = [
        must
        for n, must in enumerate(musts_of(plan), 1)
        if n not in told and not any(speaks_of(e, must) for one in whole for e in one.evidence)
    ]
    title = keep_founded_heading(answer.title, texts, home)
    names = tuple(name for name in answer.names[:MOST_NAMES] if not is_injection(name))
    return Outline(
        tuple(whole), title, answer.answer, answer.author, left_out, tuple(missing), names
    )


def _of_forgotten_topics(
    sections: Sequence[Outlined], ledger: Sequence[Evidence], plan: Plan
) -> list[Outlined]:
    """Return a section for every topic with entries that no section uses."""
    named = {place_of(e) for one in sections for e in one.evidence}
    own = {topic: [e for e in ledger if e.topic == topic.name] for topic in plan.topics}
    return [
        Outlined(topic.name, topic.question, tuple(entries))
        for topic, entries in own.items()
        if entries and not any(place_of(e) in named for e in entries)
    ]


def _with_forgotten(
    sections: Sequence[Outlined], ledger: Sequence[Evidence], unwanted: AbstractSet[str]
) -> tuple[list[Outlined], tuple[str, ...]]:
    """Add the entries that no section names, each to the section nearest in words, of its topic if
    possible; also return the ids left out.
    """
    named = {place_of(e) for one in sections for e in one.evidence}
    given: dict[int, list[Evidence]] = defaultdict(list)
    left_out = []
    for e in each_once(ledger):
        if e.kind == "columns" or place_of(e) in named:
            continue
        same = [
            n for n, one in enumerate(sections) if any(x.topic == e.topic for x in one.evidence)
        ]
        places = same or list(range(len(sections)))
        told = [f"{sections[n].heading} {sections[n].shows}" for n in places]
        near = nearest(f"{e.claim} {e.heading} {e.quote}", told)
        if e.id in unwanted or not (near or same):
            left_out.append(e.id)
        else:
            given[places[near[0] if near else 0]].append(e)
    whole = [
        replace(one, evidence=_with_columns([*one.evidence, *given[n]], ledger))
        if given[n]
        else one
        for n, one in enumerate(sections)
    ]
    return whole, tuple(left_out)


def _with_columns(chosen: Sequence[Evidence], ledger: Sequence[Evidence]) -> tuple[Evidence, ...]:
    tables = {(e.content_hash, e.columns) for e in chosen if e.kind in ("row", "cells")}
    named = [e for e in ledger if e.kind == "columns" and (e.content_hash, e.start) in tables]
    return tuple(dict.fromkeys([*named, *chosen]))
