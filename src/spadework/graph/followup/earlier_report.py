"""Store a run's report for follow-ups, read an earlier report, and merge the two."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from spadework.agents.extractive import writer as extractive
from spadework.agents.extractive.lead import plan
from spadework.agents.report.marked_text import one_a_heading
from spadework.agents.reviser import Turn
from spadework.graph.context import SessionContext, checked_session_id
from spadework.graph.state import Earlier, ResearchState, proofs
from spadework.tools.text.page_text import PageStore
from spadework.values import Coverage, Evidence, Plan, Question, Result, Section, Shortfall, Value

V = TypeVar("V", bound=Value)

KIND = "report"
#: The value of `stopped_by` if existing evidence answers the question.
RECALLED = "known"


async def keep(context: SessionContext, state: ResearchState, result: Result) -> None:
    """Store a run's report for follow-ups."""
    kept = Earlier(
        plan=state["plan"],
        title=state.get("title", ""),
        sections=tuple(state.get("sections", [])),
        citations=result.citations,
        evidence=tuple(state.get("evidence", [])),
        coverage=tuple(state.get("coverage", {}).values()),
        conflicts=result.conflicts,
        shortfalls=result.shortfalls,
        pages=tuple(state.get("pages", {}).values()),
        numbered=tuple(source.url for source in result.sources),
    )

    async def work() -> Earlier:
        return kept

    await context.journal.once(KIND, "", Earlier, work)


async def earlier(context: SessionContext, follows: str) -> Earlier | None:
    """Return the report of the session `follows`, or None if it has none."""
    if not follows:
        return None
    folder = context.folder.parent / checked_session_id(follows)

    async def work() -> Earlier | None:
        kept = await asyncio.to_thread(answers_of, folder, KIND, Earlier)
        return kept[-1] if kept else None

    found = await context.journal.moment("earlier report", follows, Earlier | None, work, None)
    return found if found and found.sections else None


async def take_over(context: SessionContext, follows: str, before: Earlier) -> frozenset[str]:
    """Copy an earlier report's readable page texts into this session, and return their hashes."""
    named = [*(e.content_hash for e in before.evidence), *(p.content_hash for p in before.pages)]
    folder = context.folder.parent / checked_session_id(follows) / "pages"

    async def work() -> dict[str, str]:
        return dict[str, str](await PageStore(folder).texts(named))

    none = dict[str, str]()
    texts = await context.journal.moment("earlier texts", follows, dict[str, str], work, none)
    for text in texts.values():
        await context.pages.put(text)
    return frozenset(texts)


def answers_of(folder: Path, kind: str, shape: type[V]) -> list[V]:
    """Return a session's journaled answers of one kind, or [] if its journal is unreadable."""
    try:
        file = (folder / "session.sqlite").as_uri()
        with closing(sqlite3.connect(f"{file}?mode=ro", uri=True)) as db:
            rows = db.execute(
                "SELECT answer FROM journal WHERE kind = ? AND answer IS NOT NULL ORDER BY rowid",
                (kind,),
            ).fetchall()
        return [shape.model_validate_json(answer) for (answer,) in rows]
    except (sqlite3.Error, ValidationError):
        return []


def as_it_was(before: Earlier) -> dict[str, Any]:
    """Return the state updates that restore an earlier report."""
    return {
        "plan": before.plan,
        "title": before.title or before.plan.title or before.plan.question,
        "sections": list(before.sections),
        "citations": list(before.citations),
        "evidence": list(before.evidence),
        "coverage": {found.topic: found for found in before.coverage},
        "conflicts": list(before.conflicts),
        "shortfalls": list(before.shortfalls),
        "pages": {page.url: page for page in before.pages},
    }


def answer_from_evidence(before: Earlier, turn: Turn, asked: str) -> dict[str, Any]:
    """Return the state updates that answer a follow-up from existing evidence, as one topic."""
    made = plan(Question(text=asked), [])
    name = turn.heading or asked
    topic = made.topics[0].model_copy(update={"name": name, "question": asked})
    known = {e.id: e for e in before.evidence}
    quoted = {(e.content_hash, e.start, e.end): e for e in (known[id_] for id_ in turn.proofs)}
    proofs = list(quoted.values())
    named = [columns for e in proofs if (columns := extractive.columns_of(e, before.evidence))]
    ids = tuple(dict.fromkeys(e.id for e in [*named, *proofs]))
    found = Coverage(topic=name, covered=True, score=turn.score, evidence_ids=ids)
    own = {id_: known[id_].model_copy(update={"topic": name}) for id_ in ids}
    return {
        # Questions of the type "fact" are answered without an outline.
        "plan": made.model_copy(update={"topics": (topic,), "question_type": "fact"}),
        "evidence": [own.get(e.id, e) for e in before.evidence],
        "coverage": {name: found},
        "pages": {page.url: page for page in before.pages},
        "stopped_by": RECALLED,
    }


def found_for_it(before: Earlier, state: ResearchState) -> list[Evidence]:
    """Return the evidence used (see `proofs`) that does not come from the earlier report."""
    known = {e.id for e in before.evidence}
    return [e for e in proofs(state) if e.id not in known]


def join_states(before: Earlier, state: ResearchState) -> dict[str, Any]:
    """Merge the plan, coverage and shortfalls of a follow-up with those of the earlier report."""
    new = state["plan"]
    names = {topic.name for topic in before.plan.topics}
    more = [topic for topic in new.topics if topic.name not in names]
    both = dict(state.get("coverage", {}))
    for old in before.coverage:
        now = both.get(old.topic, old)
        ids = tuple(dict.fromkeys([*old.evidence_ids, *now.evidence_ids]))
        both[old.topic] = now.model_copy(update={"evidence_ids": ids})
    return {
        "plan": before.plan.model_copy(update={"topics": (*before.plan.topics, *more)}),
        "coverage": both,
        "shortfalls": _shortfalls(before, new, state.get("shortfalls", []), both),
    }


def _shortfalls(
    before: Earlier, plan: Plan, now: list[Shortfall], coverage: dict[str, Coverage]
) -> list[Shortfall]:
    """Return the earlier shortfalls that still apply, then those in `now`. Once a topic of `plan`
    has evidence, its earlier shortfalls and those of the whole report no longer apply.
    """
    anew = {t.name for t in plan.topics if t.name in coverage and coverage[t.name].evidence_ids}
    anew |= {""} if anew else set()
    return [*(s for s in before.shortfalls if s.topic not in anew and s not in now), *now]


def quote_sections(before: Earlier, plan: Plan, new: list[Evidence]) -> list[Section]:
    """Return the report's sections, plus a section of quotes for each topic with `new` evidence."""
    found = [(topic.name, [e for e in new if e.topic == topic.name]) for topic in plan.topics]
    own = [extractive.section(name, entries) for name, entries in found if entries]
    return list(one_a_heading([*before.sections, *own]))
