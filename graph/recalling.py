"""What is known already: the pages of the session that is followed up, read again from its folder before anything is searched."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from spadework.graph.desk import Desk, checked_session_id
from spadework.tools.pages import PageStore
from spadework.values import Page, Plan, Result, Source

#: How old a page may be for a question about what is so now.
FRESH = timedelta(days=1)


async def earlier_pages(desk: Desk, follows: str, plan: Plan) -> list[Page]:
    """The pages that the session `follows` has read, now pages of this session, too; [] where there is none, or the folder is gone."""
    if not follows:
        return []
    folder = desk.folder.parent / checked_session_id(follows)
    pages = await asyncio.to_thread(_recorded, folder)
    oldest = datetime.now(UTC) - FRESH
    wanted = [page for page in pages if plan.freshness != "now" or page.fetched_at > oldest]
    store = PageStore(folder / "pages")
    return [taken for page in wanted if (taken := await _taken_over(desk, page, store)) is not None]


async def _taken_over(desk: Desk, page: Page, store: PageStore) -> Page | None:
    """The page in the journal and the folder of this session, so that nobody fetches it again; None when its text is gone."""
    try:
        text = await store.get(page.content_hash)
    except OSError:
        return None

    async def work() -> Page:
        await desk.pages.put(text)
        return page

    await desk.journal.once("page", {"url": page.url}, Page, work)
    return page


def _recorded(folder: Path) -> list[Page]:
    """The pages in the journal of a session, in the order they were read, with what its result says of their worth."""
    try:
        with closing(sqlite3.connect(f"{(folder / 'session.sqlite').as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT answer FROM journal WHERE kind = 'page' AND answer IS NOT NULL ORDER BY rowid").fetchall()
        pages = [Page.model_validate_json(answer) for (answer,) in rows]
    except (sqlite3.Error, ValidationError):
        return []
    try:
        sources = {s.content_hash: s for s in Result.model_validate_json((folder / "result.json").read_bytes()).sources}
    except (OSError, ValidationError):
        sources = {}
    return [_as_known(page, sources) for page in pages]


def _as_known(page: Page, sources: dict[str, Source]) -> Page:
    known = sources.get(page.content_hash)
    return (
        page if known is None else page.model_copy(update={"title": known.title, "relevance": known.relevance, "found_by": known.found_by})
    )
