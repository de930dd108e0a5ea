"""The report that a follow-up may revise: kept by every run in its journal, read by the next."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from spadework.graph.session_context import SessionContext
from spadework.graph.session_id import checked_session_id
from spadework.graph.state import Earlier, ResearchState
from spadework.tools.stores.page_store import PageStore
from spadework.values import Result, Value

V = TypeVar("V", bound=Value)

#: What a report is kept as.
KIND = "report"


async def keep(context: SessionContext, state: ResearchState, result: Result) -> None:
    """Keep the report of a run for those who follow it up."""
    writer, judge = makers(context, state)
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
        writer=writer,
        judge=judge,
    )

    async def work() -> Earlier:
        return kept

    await context.journal.once(KIND, "", Earlier, work)


def makers(context: SessionContext, state: ResearchState) -> tuple[str, str]:
    """Who wrote the sentences of a report and who judged them, "" for code."""
    before, judging = state.get("before"), context.judging
    made = (before.writer, before.judge) if before else ("", "")
    anew = before is None or any(s not in before.sections for s in state.get("sections", []))
    # A model that never gave an answer has written nothing, whatever was meant.
    if anew and judging and context.budget.used.tokens_out:
        return judging.name("writer"), judging.name("verifier")
    return made


async def earlier(context: SessionContext, follows: str) -> Earlier | None:
    """The report of the session `follows`; None where it left none, or one that says nothing."""
    if not follows:
        return None
    folder = context.folder.parent / checked_session_id(follows)

    async def work() -> Earlier | None:
        kept = await asyncio.to_thread(answers_of, folder, KIND, Earlier)
        return kept[-1] if kept else None

    found = await context.journal.moment("earlier report", follows, Earlier | None, work, None)
    return found if found and found.sections else None


async def take_over(context: SessionContext, follows: str, before: Earlier) -> frozenset[str]:
    """The hashes of the texts that a report names, put into this session, too. One that is gone, or
    not what it was, proves nothing any more.
    """
    named = [*(e.content_hash for e in before.evidence), *(p.content_hash for p in before.pages)]
    folder = context.folder.parent / checked_session_id(follows) / "pages"

    async def work() -> dict[str, str]:
        return await PageStore(folder).texts(named)

    none = dict[str, str]()
    texts = await context.journal.moment("earlier texts", follows, dict[str, str], work, none)
    for text in texts.values():
        await context.pages.put(text)
    return frozenset(texts)


def answers_of(folder: Path, kind: str, shape: type[V]) -> list[V]:
    """The answers of a kind in the journal of a session, in order; [] where it cannot be read."""
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
