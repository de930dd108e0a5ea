"""Before searching, recall pages that earlier runs have read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set as AbstractSet
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spadework.deadline import today
from spadework.events import Searched
from spadework.graph.context import Emit, SessionContext, checked_session_id
from spadework.graph.followup.earlier_report import answers_of
from spadework.graph.nodes.search import leads_of
from spadework.graph.pages.fetch import Kept, name_for_people
from spadework.graph.pages.provider_search import ranked_hits
from spadework.tools.knowledge.entry import enough, fresh_since, relevant, subject
from spadework.tools.ranking.selection import KNOWLEDGE
from spadework.tools.search.result_rows import is_wanted
from spadework.tools.text.page_text import PageStore, content_hash
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit, Page, Plan, Problem, Query, Result, Source, Task, Value

#: Maximum age of pages for questions about the present.
FRESH = timedelta(days=1)


class Known(Value):
    """Pages from earlier runs that suit a task. `enough` means that no search is needed."""

    hits: tuple[Hit, ...] = ()
    enough: bool = False
    problems: tuple[Problem, ...] = ()

    def as_list(self, lists: Sequence[Sequence[Hit]]) -> list[list[Hit]]:
        """Return the pages that are not in `lists` as one list of hits, or [] if there are none."""
        found = {canonical_url(hit.url) for hits in lists for hit in hits}
        left = [hit for hit in self.hits if canonical_url(hit.url) not in found]
        return [left] if left else []


async def recall_pages(
    context: SessionContext, question: str, task: Task, emit: Emit, before: AbstractSet[str]
) -> Known:
    """Return pages from earlier runs that suit a task, except those in `before` (the canonical URLs
    of pages already read). A resumed run gets the same pages again.
    """
    if not task.queries:
        return Known()

    key = {"topic": task.topic.name, "round": task.round, "question": question}

    async def work() -> Known:
        asked = partial(_ask_store, context, question, task, before)
        return await context.journal.moment("known", key, Known, asked, Known())

    known = await context.journal.once("known", key, Known, work)
    if known.hits:
        found = len(known.hits)
        emit(
            Searched(
                topic=task.topic.name,
                query=question,
                provider=KNOWLEDGE,
                hits=found,
                round=task.round,
                found=leads_of(known.hits, Query(text=question)),
            )
        )
    return known


async def _ask_store(
    context: SessionContext, question: str, task: Task, before: AbstractSet[str]
) -> Known:
    since = fresh_since(task.queries)
    if since is None:
        return Known()
    limit = context.most_hits
    found = await asyncio.gather(
        *(
            context.page_cache.search(subject(text), limit=limit, since=since)
            for text in dict.fromkeys((question, task.topic.question))
        )
    )
    fit = [
        one
        for one in relevant(found)
        if canonical_url(one.entry.page.url) not in before
        and any(is_wanted(query, one.entry.page.url) for query in task.queries)
    ]
    # Without a second round to fill gaps, stored pages must not replace a web search.
    will_do = context.budget.limits.iterations > 1 and await asyncio.to_thread(enough, fit, task)
    hits = [
        Hit(
            url=one.entry.page.url,
            title=one.entry.page.title,
            snippet=one.snippet,
            position=position,
            provider=KNOWLEDGE,
            query=question,
            published_at=one.entry.page.published_at,
        )
        for position, one in enumerate(fit[:limit], 1)
    ]
    ranked = tuple(ranked_hits(hits, Query(text=question)))
    return Known(hits=ranked, enough=will_do, problems=tuple(context.page_cache.problems))


async def earlier_pages(context: SessionContext, follows: str, plan: Plan) -> list[Page]:
    """Add the pages of the session `follows` to this session, and return them. If the plan is
    about the present, only pages from the last day are added.
    """
    if not follows:
        return []
    folder = context.folder.parent / checked_session_id(follows)

    async def work() -> list[Kept]:
        pages = await asyncio.to_thread(recorded_pages, folder)
        texts = await PageStore(folder / "pages").texts(page.content_hash for page in pages)
        return [
            Kept(page=page, text=text)
            for page in pages
            if (text := texts.get(page.content_hash)) is not None
            and content_hash(text) == page.content_hash
        ]

    found = await context.journal.moment("earlier pages", follows, list[Kept], work, list[Kept]())
    oldest = today() - FRESH
    wanted = [kept for kept in found if plan.freshness != "now" or kept.page.fetched_at > oldest]
    return [await _taken_over(context, kept) for kept in wanted]


async def _taken_over(context: SessionContext, kept: Kept) -> Page:
    async def work() -> Page:
        await context.pages.put(kept.text)
        return kept.page

    await context.journal.once("page", {"url": kept.page.url}, Page, work)
    return kept.page


def recorded_pages(folder: Path) -> list[Page]:
    """Return a session's pages in reading order, with details from its result."""
    sources = dict[str, Source]()
    with suppress(OSError, ValidationError):
        result = Result.model_validate_json((folder / "result.json").read_bytes())
        sources = {source.content_hash: source for source in result.sources}
    pages = []
    for page in answers_of(folder, "page", Page):
        told: dict[str, Any] = {
            "title": name_for_people(page.title),
            "author": name_for_people(page.author),
        }
        if known := sources.get(page.content_hash):
            told |= known.model_dump(include={"title", "relevance"}) | {"found_by": known.found_by}
        pages.append(page.model_copy(update=told))
    return pages
