"""Read a task's pages concurrently, and replace those that fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence, Set as AbstractSet
from contextlib import aclosing
from datetime import datetime
from typing import Any, cast, get_args

from spadework.errors import FetchError, TooSlow
from spadework.events import Read, Reading
from spadework.graph.context import Emit, SessionContext
from spadework.graph.effort.workload import unless_stopped
from spadework.graph.pages.fetch import (
    from_knowledge,
    from_library,
    from_provider,
    from_web,
    name_for_people,
)
from spadework.tools.fetch.page_pool import (
    PAGE_SECONDS,
    Began,
    Came,
    Failed,
    Left,
    Limits,
    Outcome,
    Why,
    read_many,
)
from spadework.tools.knowledge.entry import fresh_since
from spadework.tools.ranking.selection import LOCAL, source_kind
from spadework.tools.stores.journal import Journal
from spadework.tools.web.urls import canonical_url, host_of
from spadework.values import Attempt, Hit, Page, Problem, Task, Unread

#: Pages read concurrently per topic.
PARALLEL_PAGES = 5
#: A page counts as slow after SLOW_SECONDS or SLOW_SHARE of its time limit, whichever is sooner.
SLOW_SHARE, SLOW_SECONDS = 0.3, 10.0
#: Extra seconds to wait, past the deadline, for a page that the user named.
GRACE_SECONDS = 2.0
_TOLD = {"title", "chars", "known", "level", "status", "media_type", "bytes", "content_hash"}
_TOLD |= {"cleaned_by", "cleaning", "attempts"}


async def read_pages(
    context: SessionContext,
    task: Task,
    chosen: Sequence[Hit],
    reserve: Sequence[Hit],
    emit: Emit,
    taken: AbstractSet[str] = frozenset(),
) -> tuple[list[Page], list[Unread], list[Problem]]:
    """Read the `chosen` hits, and replace failed or slow ones from `reserve`. Return the pages, the
    unread hits, and the problems. `taken` holds the canonical URLs of pages assigned to other
    workers. These do not count towards the number of pages to read.
    """
    hits = [*chosen, *reserve]
    wanted = sum(canonical_url(hit.url) not in taken for hit in chosen)
    if not wanted:  # All are other workers' pages. They must count, or none would be read.
        wanted, taken = len(chosen), frozenset()
    # Record which pages were given up, because a replay cannot tell which pages were late.
    key = {"topic": task.topic.name, "round": task.round, "hits": [hit.url for hit in hits]}
    given_up: dict[str, str] = await context.journal.noted("given up", key) or {}
    ends: dict[str, Outcome[Hit, Page]] = {}
    for hit in hits:
        if (why := given_up.get(hit.url)) is not None:
            left_out = why in get_args(Why)
            ends[hit.url] = Left(hit, cast("Why", why)) if left_out else Failed(hit, TooSlow(why))
    left = [hit for hit in hits if hit.url not in given_up]
    outcomes = await _read_hits(context, task, left, wanted, taken, emit)
    for outcome in outcomes:
        ends[outcome.candidate.url] = outcome
        if isinstance(outcome, Left):
            given_up[outcome.candidate.url] = outcome.why
        elif isinstance(outcome, Failed) and isinstance(outcome.error, TooSlow):
            given_up[outcome.candidate.url] = str(outcome.error)
    waiting = [hit.url for hit in left if hit.url not in ends]
    await context.journal.note(
        "given up", key, {**dict.fromkeys(waiting, "not needed"), **given_up}
    )
    pages = {came.result.url: came.result for came in outcomes if isinstance(came, Came)}
    order = {canonical_url(hit.url): n for n, hit in enumerate(hits)}
    last = [ends[hit.url] for hit in hits if hit.url in ends]
    return (
        sorted(pages.values(), key=lambda page: order.get(canonical_url(page.url), len(order))),
        [unread for end in last if (unread := _unread(task, end))],
        [problem for end in last if (problem := _problem(task, end))],
    )


async def _read_hits(
    context: SessionContext,
    task: Task,
    hits: Sequence[Hit],
    wanted: int,
    taken: AbstractSet[str],
    emit: Emit,
) -> list[Outcome[Hit, Page]]:
    outcomes: list[Outcome[Hit, Page]] = []
    began: dict[str, float] = {}
    others: set[str] = set()
    since, kinds = fresh_since(task.queries), context.settings.search_kinds

    async def read(hit: Hit, seconds: float) -> Page:
        page = await read_page(context, hit, seconds, since)
        if kinds and page.kind not in kinds:
            raise FetchError(f"Its kind is {page.kind or 'unknown'}, not {' or '.join(kinds)}.")
        others.update([page.url] if canonical_url(hit.url) in taken else [])
        return page

    def place(page: Page) -> str | None:
        return page.url if page.url not in others else None

    def host(hit: Hit) -> str:
        return "" if hit.url.startswith(LOCAL) else host_of(hit.url)

    limits = _limits(context, wanted)
    reading = read_many(hits, read, limits, group=host, key=place, stop=context.stop)
    async with aclosing(reading):
        async for outcome in reading:
            emit(_event(task, outcome, began))
            outcomes.append(outcome)
    return outcomes


def _limits(context: SessionContext, wanted: int) -> Limits:
    seconds = context.budget.phase("read")
    return Limits(
        wanted=wanted,
        parallel=PARALLEL_PAGES,
        per_group=context.settings.parallel_per_host,
        page_seconds=PAGE_SECONDS,
        slow_seconds=min(SLOW_SECONDS, SLOW_SHARE * min(PAGE_SECONDS, seconds)),
        until=asyncio.get_running_loop().time() + seconds,
    )


async def read_page(
    context: SessionContext, hit: Hit, seconds: float, since: datetime | None = None
) -> Page:
    """Read a hit's page once per session, or take the stored copy if fetched after `since`."""

    async def work() -> Page:
        context.budget.charge("pages")
        if hit.text:
            return await from_provider(context, hit)
        if hit.url.startswith(LOCAL):
            return await from_library(context, hit.url)
        known = await from_knowledge(context, hit.url, since)
        return known or await from_web(context, hit.url, seconds)

    page = await context.journal.once("page", _key(hit), Page, work)
    return page.model_copy(
        update={
            "title": name_for_people(page.title) or name_for_people(hit.title),
            "publisher": name_for_people(hit.publisher),
            "kind": source_kind(hit, page),
            "author": name_for_people(page.author),
            "published_at": page.published_at or hit.published_at,
            "relevance": hit.relevance,
            "rrf": hit.rrf,
            "found_by": hit.found_by,
        }
    )


async def page_at(context: SessionContext, url: str) -> Page:
    """Return a page that the user named. Raises FetchError, or Stopped if the run is stopped."""
    seconds = min(PAGE_SECONDS, context.budget.until_closing())
    reading = read_page(context, Hit(url=url), seconds)
    try:
        return await unless_stopped(context.stop, reading, seconds=seconds + GRACE_SECONDS)
    except TimeoutError:
        raise TooSlow("The page did not load in time.") from None


async def was_readable(journal: Journal, hit: Hit) -> bool | None:
    """Return whether a hit's page could be read, or None if it was not tried."""
    try:
        return True if await journal.find("page", _key(hit), Page) else None
    except FetchError:
        return False


def _key(hit: Hit) -> dict[str, str]:
    return {"url": canonical_url(hit.url)}


def _event(task: Task, outcome: Outcome[Hit, Page], began: dict[str, float]) -> Reading | Read:
    hit, now = outcome.candidate, time.monotonic()
    of: dict[str, Any] = {"topic": task.topic.name, "round": task.round, "url": hit.url}
    if isinstance(outcome, Began):
        began[hit.url] = now
        return Reading(**of, title=hit.title)
    of["seconds"] = seconds = round(now - began.get(hit.url, now), 3)
    if isinstance(outcome, Came):
        return Read(**of, **told_page(outcome.result))
    reason = _reason(outcome)
    attempts = outcome.error.attempts if isinstance(outcome, Failed) else ()
    late = isinstance(outcome, Left) or isinstance(outcome.error, TooSlow)
    if late and seconds and not attempts:
        # A cancelled attempt does not record itself, so it is recorded here.
        attempts = (Attempt(seconds=seconds, reason=reason),)
    return Read(**of, title=hit.title, **told_failure(reason, attempts))


def told_page(page: Page) -> dict[str, Any]:
    """Return a page's fields for a Read event."""
    return page.model_dump(include=_TOLD)


def told_failure(reason: str, attempts: Sequence[Any]) -> dict[str, Any]:
    """Return a failure's fields for a Read event."""
    made = tuple(Attempt.model_validate(attempt) for attempt in attempts)
    last = made[-1].model_dump(include={"level", "status", "bytes"}) if made else {}
    return {"reason": reason, "attempts": made, **last}


def _reason(outcome: Failed[Hit] | Left[Hit]) -> str:
    if isinstance(outcome, Failed):
        return str(outcome.error)
    host = host_of(outcome.candidate.url)
    return {
        "not needed": f"{host} was slow, and another page was read instead.",
        "budget": "The budget for pages is used up.",
        "stopped": f"The run was stopped before {host} answered.",
        "deadline": f"{host} did not answer in time.",
    }[outcome.why]


def _unread(task: Task, outcome: Outcome[Hit, Page]) -> Unread | None:
    if isinstance(outcome, Began | Came) or (
        isinstance(outcome, Left) and outcome.why not in ("deadline", "stopped")
    ):
        return None
    hit = outcome.candidate
    return Unread(
        topic=task.topic.name,
        url=hit.url,
        title=hit.title,
        snippet=hit.snippet,
        score=hit.relevance,
        reason=_reason(outcome),
        late=isinstance(outcome, Left) and outcome.why == "deadline",
    )


def _problem(task: Task, outcome: Outcome[Hit, Page]) -> Problem | None:
    hit = outcome.candidate
    if isinstance(outcome, Came) and outcome.result.stale:
        day = outcome.result.fetched_at
        unreached = f"{host_of(hit.url)} could not be reached"
        reason = f"{unreached}; the copy from {day.day} {day:%B %Y} was read instead."
        stage, effect = "copy", "may be out of date."
    elif unread := _unread(task, outcome):
        stage, reason, effect = "read", unread.reason, "was not read."
    else:
        return None
    effect = f"“{hit.title or hit.url}” {effect}"
    return Problem(stage=stage, subject=hit.url, reason=reason, effect=effect)
