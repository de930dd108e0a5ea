"""Whether a question means the same to the lead in other words: the plans of the paraphrases of
`answers.py` beside those of the questions as they were asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spadework.agents.extractive.lead import plan
from spadework.agents.extractive.question_parts import parts
from spadework.sessions.search_only import preview
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.text.facts import stems
from spadework.values import Plan, Question

Row = dict[str, Any]
Figures = dict[str, float]


class Understood(NamedTuple):
    """What a plan makes of a question, as two of them are compared: subjects by their stems, in any
    order, and what each topic expects.
    """

    kind: str
    subjects: frozenset[frozenset[str]]
    expects: tuple[str, ...]


class Paraphrase(NamedTuple):
    """A paraphrase with its plan, and the question as asked with its own."""

    question_id: str
    asked: Plan
    said: Plan

    @property
    def differs(self) -> list[str]:
        """In what the plans differ: kind, subjects, expects."""
        one, other = understood(self.asked), understood(self.said)
        return [name for name in Understood._fields if getattr(one, name) != getattr(other, name)]


def understood(made: Plan) -> Understood:
    """A plan, as it is compared with another."""
    return Understood(
        made.question_type,
        frozenset(frozenset(stems(subject)) for subject in made.subjects),
        tuple(topic.expects for topic in made.topics),
    )


def paraphrased(rows: Sequence[Row], settings: Settings | None) -> list[Paraphrase]:
    """The plans of all paraphrases, after a first broad search as in a run; without `settings`
    without its hits.
    """
    return [
        Paraphrase(row["id"], asked, planned(text, settings))
        for row in rows
        if row["paraphrases"]
        for asked in [planned(row["question"], settings)]
        for text in row["paraphrases"]
    ]


def planned(question: str, settings: Settings | None) -> Plan:
    """The plan of a run, or where nothing can be searched that of the words alone."""
    if settings is None:
        return plan(Question(text=question), ())
    return asyncio.run(preview(Session.start(question, settings=settings))).plan


def figures(rows: Sequence[Row], made: Sequence[Paraphrase]) -> Figures:
    """The share of paraphrases with the same plan, and with the same of each part of it; of
    questions, and of paraphrases, whose kind is sure.
    """
    shares = {
        f"same_{name}": [name not in one.differs for one in made] for name in Understood._fields
    }
    shares |= {
        "same_plan": [not one.differs for one in made],
        "sure": [is_sure(row["question"]) for row in rows],
        "sure_paraphrases": [is_sure(one.said.question) for one in made],
    }
    counts = {"questions": len(rows), "paraphrases": len(made)}
    return counts | {name: sum(each) / len(each) for name, each in shares.items() if each}


def is_sure(question: str) -> bool:
    """Return whether a cue tells the kind of every part of a question."""
    return all(part.expects != "open" for part in parts(question))


def as_text(told: Mapping[str, float]) -> str:
    """The figures as lines of text."""

    def share(name: str) -> str:
        return f"{told[name]:.3f}" if name in told else "-"

    lines = [
        f"kind sure: {share('sure')} of {told['questions']:.0f} questions, "
        f"{share('sure_paraphrases')} of {told['paraphrases']:.0f} paraphrases",
        "paraphrases whose plan has the same as that of the question as asked:",
    ]
    names = ("plan", *Understood._fields)
    return "\n".join([*lines, *(f"  {name:<9}{share(f'same_{name}')}" for name in names)])


def as_list(made: Sequence[Paraphrase]) -> str:
    """Every paraphrase whose plan differs, with what differs, under its question."""
    differing = [one for one in made if one.differs]
    groups = groupby(differing, lambda one: (one.question_id, one.asked))
    return "\n".join(line for (name, asked), own in groups for line in _shown(name, asked, own))


def _shown(name: str, asked: Plan, own: Iterable[Paraphrase]) -> Iterator[str]:
    yield f"\n{name}  {asked.question}"
    for one in own:
        yield f"  - {one.said.question}"
        yield from (f"      {n}: {_part(asked, n)} -> {_part(one.said, n)}" for n in one.differs)


def _part(made: Plan, name: str) -> str:
    shown = {
        "kind": made.question_type,
        "subjects": ", ".join(f"“{subject}”" for subject in made.subjects) or "none",
        "expects": ", ".join(topic.expects for topic in made.topics),
    }
    return shown[name]
