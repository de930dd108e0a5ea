"""The outline: how the report is composed, before it is written. One call sees the question, the
plan, the ledger as lines, what disagrees and what is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from spadework.agents.checking import strange
from spadework.agents.model import Model, at_most
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.orders import is_order
from spadework.values import Conflict, Coverage, Evidence, Plan, Problem, Visible

#: What sections are made of; how it is set follows from it.
SectionForm = Literal["prose", "steps", "table", "timeline", "bullets", "code"]
#: Sections of a report at most, and columns of a table.
MOST_SECTIONS, MOST_COLUMNS = 12, 6
#: Characters of an entry of the ledger in its line.
LINE_CHARS = 220
#: Words of a report, by the wish.
WORDS: Mapping[str, int] = {"short": 200, "normal": 700, "long": 1_800}


class OutlinedAnswer(Visible):
    """A section as it is planned."""

    heading: str
    shows: str
    form: SectionForm
    columns: list[str] = Field([], json_schema_extra={"maxItems": MOST_COLUMNS})
    evidence_ids: list[str]
    words: int


class OutlineAnswer(Visible):
    """The composition of a report."""

    title: str
    answer: str
    sections: list[OutlinedAnswer] = at_most(MOST_SECTIONS)


@dataclass(frozen=True)
class Outlined:
    """A section to be written: its heading, what it shall show in which form, from which entries,
    in about how many words (0: as it needs).
    """

    heading: str
    shows: str
    evidence: tuple[Evidence, ...]
    form: SectionForm = "prose"
    columns: tuple[str, ...] = ()
    words: int = 0


@dataclass(frozen=True)
class Outline:
    """The composition of a report; `answer` is what it says in short, for those who write it."""

    sections: tuple[Outlined, ...]
    title: str = ""
    answer: str = ""


@dataclass(frozen=True)
class Known:
    """What a report must take into account beside its evidence: how far its topics are answered,
    what disagrees, and how many words it may have.
    """

    coverage: Mapping[str, Coverage]
    conflicts: Sequence[Conflict]
    words: int


def by_topic(plan: Plan, ledger: Sequence[Evidence], words: int = 0) -> Outline:
    """The outline that code makes: a section for every topic that has evidence."""
    topics = [(topic, [e for e in ledger if e.topic == topic.name]) for topic in plan.topics]
    found = [(topic, own) for topic, own in topics if own]
    share = words // max(1, len(found))
    return Outline(
        tuple(Outlined(topic.name, topic.question, tuple(own), words=share) for topic, own in found)
    )


async def outline(
    model: Model,
    plan: Plan,
    ledger: Sequence[Evidence],
    known: Known,
    *,
    seconds: float,
) -> tuple[Outline, list[Problem]]:
    """The outline of the writer's model; by topic where it fails."""
    prompt = render(
        "outline",
        plan=plan,
        lines=[_line(e) for e in _each_once(ledger) if e.kind != "columns"],
        open_ones=[
            (c.topic, c.state, c.gaps) for c in known.coverage.values() if c.state != "answered"
        ],
        conflicts=[
            f"{conflict.topic}: " + " / ".join(side.claim for side in conflict.sides)
            for conflict in known.conflicts
        ],
        words=known.words,
    )
    try:
        answer = await model.ask("writer", prompt, OutlineAnswer, seconds=seconds)
    except (ModelError, BudgetSpent) as error:
        effect = "The report has a section for every topic."
        problem = Problem(stage="writer", subject="outline", reason=str(error), effect=effect)
        return by_topic(plan, ledger, known.words), [*model.news("writer"), problem]
    return _checked(answer, ledger, plan.question) or by_topic(
        plan, ledger, known.words
    ), model.news("writer")


def _checked(answer: OutlineAnswer, ledger: Sequence[Evidence], question: str) -> Outline | None:
    """The outline with entries that exist, sections of one heading joined; None where no section
    has any. A heading or title that says what no entry says, or speaks to machines, is none.
    """
    known = {e.id: e for e in ledger}
    texts = [question, *(f"{e.title}\n{e.heading}\n{e.claim}\n{e.quote}" for e in ledger)]
    made: dict[str, Outlined] = {}
    for one in answer.sections:
        own = _with_columns([known[i] for i in one.evidence_ids if i in known], ledger)
        if not own:
            continue
        heading = _founded(one.heading, texts) or own[0].topic
        same = made.get(heading.casefold())
        if same:
            joined = tuple(dict.fromkeys([*same.evidence, *own]))
            made[heading.casefold()] = replace(same, evidence=joined)
            continue
        columns = tuple(_founded(column, texts) for column in one.columns)
        words = max(0, one.words)
        made[heading.casefold()] = Outlined(heading, one.shows, own, one.form, columns, words)
    title = _founded(answer.title, texts)
    return Outline(tuple(made.values()), title, answer.answer) if made else None


def _founded(text: str, known: Sequence[str]) -> str:
    """A heading on one line; "" for one with a figure, date or name that nothing known has, or an
    order to machines.
    """
    line = " ".join(text.split())
    words = line.split()
    # Where every word has a capital, one says nothing.
    titled = sum(word[:1].isupper() for word in words[1:]) > len(words[1:]) / 2
    said = " ".join(w if w[1:] != w[1:].lower() else w.lower() for w in words) if titled else line
    return "" if is_order(line) or strange(said, known) else line


def _with_columns(chosen: Sequence[Evidence], ledger: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Entries, rows of a table with the names of their columns."""
    tables = {(e.content_hash, e.columns) for e in chosen if e.kind == "row"}
    named = [e for e in ledger if e.kind == "columns" and (e.content_hash, e.start) in tables]
    return tuple(dict.fromkeys([*named, *chosen]))


def _each_once(ledger: Sequence[Evidence]) -> list[Evidence]:
    """The entries of a ledger, those that several topics quote once."""
    return list({(e.content_hash, e.start, e.end): e for e in reversed(ledger)}.values())[::-1]


def _line(evidence: Evidence) -> str:
    """An entry in a line: what it says, where, when."""
    said = " ".join((evidence.claim or evidence.quote).split())[:LINE_CHARS]
    if evidence.kind == "code":
        said = f"(code) {said}"
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    about = (said, evidence.title, evidence.heading.rpartition(" > ")[2], date)
    return f"{evidence.id} · " + " · ".join(part for part in about if part)
