"""Plan a report's sections in one model call, before writing."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from spadework.agents.editor import day_of
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.agents.report.checks import Known as Text, keep_founded_heading
from spadework.agents.report.material import lines_of, merged, speaks_of, with_columns
from spadework.prompts import render
from spadework.tools.text.language import Phrases
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import CODE, Conflict, Coverage, Evidence, Plan, Problem, Visible

#: How a section of the report presents its content.
SectionForm = Literal["prose", "steps", "table", "timeline", "bullets", "code", "advice"]
MOST_SECTIONS, MOST_COLUMNS = 12, 6
#: The maximum number of unanswered points listed in a report. Readers would skip a longer list.
MOST_OPEN = 3
MOST_NAMES = 12
#: The target number of words in a report, by requested length.
WORDS: Mapping[str, int] = {"short": 200, "normal": 700, "long": 1_800}


class OutlinedAnswer(Visible):
    """A planned section."""

    heading: str
    shows: str
    form: SectionForm
    columns: list[str] = at_most(MOST_COLUMNS, [])
    evidence_ids: list[str]
    words: int


class OutlineAnswer(Reply):
    """A model's outline of a report."""

    title: str
    answer: str
    sections: list[OutlinedAnswer] = at_most(MOST_SECTIONS)
    left_out: list[str] = Field([])
    open: list[int] = at_most(MOST_OPEN, [])
    names: list[str] = at_most(MOST_NAMES, [])


@dataclass(frozen=True)
class Outlined:
    """A planned section and its evidence. If `words` is 0, its length is unlimited."""

    heading: str
    shows: str
    evidence: tuple[Evidence, ...]
    form: SectionForm = "prose"
    columns: tuple[str, ...] = ()
    words: int = 0


@dataclass(frozen=True)
class Outline:
    """The plan of a report.
    - `answer`: the short answer with citation marks, written by `author`.
    - `left_out`: the ids of ledger entries that no section uses.
    - `missing`: the main points that no ledger entry answers, or None if unchecked.
    - `names`: names that all code samples should share.
    """

    sections: tuple[Outlined, ...]
    title: str = ""
    answer: str = ""
    author: str = CODE
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """What an outline must consider besides the evidence. `words` is the report's target length,
    and `most_words` its maximum (0 for no limit). `asked_on` is the date of the run.
    """

    coverage: Mapping[str, Coverage]
    conflicts: Sequence[Conflict]
    words: int
    most_words: int = 0
    asked_on: str = ""


def by_topic(plan: Plan, ledger: Sequence[Evidence], words: int = 0) -> Outline:
    """Return an outline with one section for each topic that has evidence."""
    topics = [(topic, [e for e in ledger if e.topic == topic.name]) for topic in plan.topics]
    found = [(topic, own) for topic, own in topics if own]
    share = words // max(1, len(found))
    return Outline(
        tuple(Outlined(topic.name, topic.question, tuple(own), words=share) for topic, own in found)
    )


async def outline(
    model: Model, plan: Plan, ledger: Sequence[Evidence], known: Known, *, seconds: float
) -> tuple[Outline, list[Problem]]:
    """Return the model's outline, or one section per topic if the model fails."""
    wanted = _points_to_tell(plan, known.coverage)
    prompt = render(
        "outline",
        plan=plan,
        wanted=[(one, ", ".join(topics)) for one, topics in wanted.items()],
        lines=lines_of(dict.fromkeys(merged(ledger).values())),
        open_ones=[(c.topic, c.state) for c in known.coverage.values() if c.state != "answered"],
        conflicts=[
            *(_sides_of(conflict, ledger) for conflict in known.conflicts),
            *(f"{c.topic}: {one}" for c in known.coverage.values() for one in c.differences),
        ],
        most_open=MOST_OPEN,
        words=known.words,
        most_words=known.most_words,
        asked_on=known.asked_on,
    )

    async def ask(model: Model) -> Outline:
        answer = await model.ask("writer", prompt, OutlineAnswer, seconds=seconds)
        return await asyncio.to_thread(_check_outline, answer, ledger, plan, [*wanted]) or instead()

    def instead() -> Outline:
        return by_topic(plan, ledger, known.words)

    effect = "Instead, the report has one section for each topic."
    return await first_of(model, "writer", "outline", ask, instead, effect)


def _sides_of(conflict: Conflict, ledger: Sequence[Evidence]) -> str:
    entries = {e.id: e for e in ledger}
    sides = ((side.claim, day_of(side, entries)) for side in conflict.sides)
    told = (f"{claim} ({day})" if day else claim for claim, day in sides)
    return f"{conflict.topic}: {' / '.join(told)}"


def is_summary(heading: str, code: str) -> bool:
    """Return whether a heading means "summary" in the language `code`."""
    return heading.casefold() == Phrases(code)("summary").casefold()


def _points_to_tell(plan: Plan, coverage: Mapping[str, Coverage]) -> dict[str, list[str]]:
    """Map each point that the report must cover (a required aspect, or a gap in the evidence) to
    its topics. Skip gaps of answered topics, because no search was made for those gaps.
    """
    wanted: dict[str, list[str]] = defaultdict(list)
    for topic in plan.topics:
        for must in topic.must_cover:
            wanted[must].append(topic.name)
    for found in coverage.values():
        for gap in found.gaps if found.state != "answered" else ():
            wanted[gap].append(found.topic)
    return {one: list(dict.fromkeys(topics)) for one, topics in wanted.items()}


def _check_outline(
    answer: OutlineAnswer, ledger: Sequence[Evidence], plan: Plan, wanted: Sequence[str]
) -> Outline | None:
    """Return the validated outline, or None if no section has evidence. Merge sections of the same
    heading, replace unsupported headings, and add forgotten evidence and topics.
    """
    known = merged(ledger)
    once = list(dict.fromkeys(known.values()))
    said = (f"{e.title}\n{e.heading}\n{e.claim}\n{e.quote}" for e in ledger)
    texts = [Text(text) for text in (plan.question, *said)]
    home = plan.language.lower()[:2]
    made: dict[str, Outlined] = {}
    for one in answer.sections:
        own = with_columns([known[i] for i in one.evidence_ids if i in known], once)
        if not own:
            continue
        heading = keep_founded_heading(one.heading, texts, home) or own[0].topic
        if is_summary(heading, plan.language):
            # This heading is reserved for the summary, which is written last. Use the topic's name
            # instead.
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
    unwanted = {known[id_].id for id_ in answer.left_out if id_ in known}
    used = [(e.topic, known[e.id]) for e in ledger if known[e.id].id not in unwanted]
    sections = [*made.values(), *_of_forgotten_topics([*made.values()], used, plan)]
    whole = _with_forgotten(sections, dict.fromkeys(e for _, e in used), once)
    named = {e.id for one in whole for e in one.evidence}
    left_out = tuple(e.id for e in once if e.id not in named and e.kind != "columns")
    title = keep_founded_heading(answer.title, texts, home)
    asked = (wanted[n - 1] for n in dict.fromkeys(answer.open) if 1 <= n <= len(wanted))
    missing = tuple(one for one in asked if not any(speaks_of(e, one) for e in once))
    names = tuple(name for name in answer.names[:MOST_NAMES] if not is_injection(name))
    return Outline(tuple(whole), title, answer.answer, answer.author, left_out, missing, names)


def _of_forgotten_topics(
    sections: Sequence[Outlined], wanted: Sequence[tuple[str, Evidence]], plan: Plan
) -> list[Outlined]:
    named = {e.id for one in sections for e in one.evidence}
    own = {topic: tuple(e for of, e in wanted if of == topic.name) for topic in plan.topics}
    return [
        Outlined(topic.name, topic.question, entries)
        for topic, entries in own.items()
        if entries and not any(e.id in named for e in entries)
    ]


def _with_forgotten(
    sections: Sequence[Outlined], wanted: Iterable[Evidence], ledger: Sequence[Evidence]
) -> list[Outlined]:
    named = {e.id for one in sections for e in one.evidence}
    given: dict[int, list[Evidence]] = defaultdict(list)
    for e in wanted:
        if e.kind != "columns" and e.id not in named:
            of_topic = (
                n for n, s in enumerate(sections) if any(o.topic == e.topic for o in s.evidence)
            )
            given[next(of_topic, 0)].append(e)
    return [
        replace(one, evidence=with_columns([*one.evidence, *given[n]], ledger))
        for n, one in enumerate(sections)
    ]
