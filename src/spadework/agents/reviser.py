"""The reviser: changes sections of a finished report by what its asker says next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spadework.agents.checked_text import Known
from spadework.agents.checking import keep_founded_heading
from spadework.agents.entry_text import entry_of
from spadework.agents.llm.client import Model
from spadework.agents.llm.structured_output import Reply, at_most
from spadework.agents.marked_section import one_a_heading, with_marks
from spadework.agents.marked_text import section_of
from spadework.agents.outline import MOST_SECTIONS
from spadework.agents.writer import with_code
from spadework.errors import BadReply
from spadework.prompts import Prompt, render
from spadework.tools.text import tokens
from spadework.values import Evidence, Plan, Section, Visible

#: Of the tokens of a window, the share that evidence may take; report and answer take the rest.
EVIDENCE_SHARE = 0.6


class RevisedAnswer(Visible):
    """A section as it shall stand: in the place of one of the report, or new (0)."""

    number: int
    heading: str
    markdown: str


class RevisionAnswer(Reply):
    """What changes of a report; `left_out` are the numbers of sections that shall go."""

    title: str
    sections: list[RevisedAnswer] = at_most(2 * MOST_SECTIONS)
    left_out: list[int] = at_most(MOST_SECTIONS, [])


@dataclass(frozen=True)
class Told:
    """A report as its reviser sees it: the `ledger` it may cite, of which the ids in `more` are
    new, and what is wanted of it now, on which day, in the language of the `plan`.
    """

    plan: Plan
    title: str
    sections: Sequence[Section]
    ledger: Sequence[Evidence]
    asked: str
    more: Sequence[str] = ()
    asked_on: str = ""


@dataclass(frozen=True)
class Revision:
    """A report after a revision; a section that did not change is the same object. `places` says
    for which section of the report one stands, by its heading.
    """

    title: str
    sections: tuple[Section, ...]
    places: Mapping[str, int]


async def revise(model: Model, told: Told, *, window: int, seconds: float) -> Revision:
    """The revised report, not checked yet. Raises ModelError, BudgetSpent."""
    await tokens.ready()
    prompt = prompt_of(told, window)
    return _revision(told, await model.ask("writer", prompt, RevisionAnswer, seconds=seconds))


def prompt_of(told: Told, window: int) -> Prompt:
    """What the reviser is asked: the report with its marks, and the entries it may cite, the new
    ones and those that it cites first, as far as there is room.
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
        evidence=[entry_of(e) for e in _with_room(told, int(EVIDENCE_SHARE * window))],
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
    """The report with the changed sections in their places. Raises BadReply where that is none."""
    said = [told.asked, told.plan.question, told.title]
    said += [f"{e.title}\n{e.heading}\n{e.claim}\n{e.quote}" for e in told.ledger]
    said += [section.heading for section in told.sections]
    texts = [Known(text) for text in said]
    home = told.plan.language[:2].lower()
    numbers = {section.heading.casefold(): n for n, section in enumerate(told.sections)}
    # Whoever adds to a report takes nothing away.
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
    """Whether two sections say the same in the same form."""
    return one.heading == other.heading and with_marks(one) == with_marks(other)
