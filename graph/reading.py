"""Reading for one task: many pages at once, a reserve for every page that fails, until the soft deadline."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from spadework.errors import BudgetSpent, FetchError, NotAllowed, TooLarge, TooSlow
from spadework.events import Read, Reading
from spadework.graph.desk import Desk
from spadework.graph.emit import Emit
from spadework.tools.extract.child import read_apart
from spadework.tools.inline import one_line
from spadework.tools.urls import canonical_url, host_of
from spadework.values import Hit, Page, Problem, Task

LIBRARY = "library://"
#: Local documents are at level -1: nothing was fetched.
LOCAL = -1


async def read_pages(desk: Desk, task: Task, chosen: Sequence[Hit], reserve: Sequence[Hit], emit: Emit) -> tuple[list[Page], list[Problem]]:
    """The pages of `chosen` in their order, replaced by those of `reserve` where one fails; what came by the deadline counts."""
    until = asyncio.get_running_loop().time() + desk.budget.phase("read")
    waiting, wanted = deque([*chosen, *reserve]), len(chosen)
    running: dict[asyncio.Task[Page], Hit] = {}
    pages: dict[str, Page] = {}
    problems: list[Problem] = []
    stopping = asyncio.create_task(desk.stop.wait())
    try:
        while running or (waiting and len(pages) < wanted):
            while waiting and len(running) < desk.settings.parallel_pages and len(pages) + len(running) < wanted:
                hit = waiting.popleft()
                running[asyncio.create_task(read_page(desk, hit, until))] = hit
                emit(Reading(topic=task.topic.name, url=hit.url, title=hit.title))
            left = until - asyncio.get_running_loop().time()
            done, _ = await asyncio.wait({*running, stopping}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for finished in [task for task in running if task in done]:
                outcome = _outcome(finished, running.pop(finished), task, emit)
                if isinstance(outcome, Page):
                    pages[outcome.url] = outcome
                elif outcome:
                    problems.append(outcome)
            if any(isinstance(task.exception(), BudgetSpent) for task in done - {stopping}):
                waiting.clear()
            if not done or stopping.done():
                break
    finally:
        problems += [_late(task, hit, emit) for hit in running.values()]
        await _cancelled({*running, stopping})
    order = {canonical_url(hit.url): n for n, hit in enumerate([*chosen, *reserve])}
    return sorted(pages.values(), key=lambda page: order.get(canonical_url(page.url), len(order))), problems


async def read_page(desk: Desk, hit: Hit, until: float) -> Page:
    """The page of a hit, read once in the session, with what the hit knows of it."""

    async def work() -> Page:
        desk.budget.charge("pages")
        if hit.url.startswith(LIBRARY):
            return await _from_library(desk, hit.url)
        return await _from_web(desk, hit.url, until)

    page = await desk.journal.once("page", {"url": canonical_url(hit.url)}, Page, work)
    return page.model_copy(
        update={
            "title": one_line(page.title or hit.title),
            "published_at": page.published_at or hit.published_at,
            "relevance": hit.relevance,
            "rrf": hit.rrf,
            "found_by": hit.found_by,
        }
    )


async def attached_pages(desk: Desk, attachments: Sequence[str]) -> tuple[list[Page], list[Problem]]:
    """The files given with the question as pages; one that cannot be read is a problem.

    Only a session may name files: what comes to a graph on a server comes from anybody.
    """
    pages: list[Page] = []
    problems: list[Problem] = []
    for n, name in enumerate(attachments, 1):
        path = Path(name)
        try:
            if desk.owned_by_graph:
                raise NotAllowed("Files can be attached only to a session.")
            pages.append(await _attached(desk, path, f"{LIBRARY}attached/{n}-{quote(path.name)}"))
        except (OSError, FetchError, TimeoutError) as error:
            reason = f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error or 'it took too long'}"
            problems.append(Problem(stage="read", subject=path.name, reason=reason, effect="It was not used."))
    return pages, problems


async def _attached(desk: Desk, path: Path, url: str) -> Page:
    most, seconds = desk.settings.page_bytes, desk.budget.phase("plan", "search")
    async with asyncio.timeout(seconds):
        if (await asyncio.to_thread(path.stat)).st_size > most:
            raise TooLarge(f"it has more than {most} bytes")
        body = await asyncio.to_thread(path.read_bytes)
        extracted = await read_apart(body, media_type="", url=url, charset="", seconds=seconds)
    return await _local(desk, url, extracted.title or path.name, extracted.markdown, extracted.published_at)


async def _from_library(desk: Desk, url: str) -> Page:
    if desk.library is None:
        raise FetchError(f"{url} is in a library that is not open.")
    document = await desk.library.document(url)
    return await _local(desk, url, document.title, document.markdown, document.published_at)


async def _local(desk: Desk, url: str, title: str, markdown: str, published_at: datetime | None) -> Page:
    digest, text = await desk.pages.put(markdown)
    return Page(
        url=url,
        title=title,
        level=LOCAL,
        media_type="text/markdown",
        published_at=published_at,
        fetched_at=datetime.now(UTC),
        content_hash=digest,
        chars=len(text),
    )


async def _from_web(desk: Desk, url: str, until: float) -> Page:
    seconds = min(desk.settings.page_seconds, until - asyncio.get_running_loop().time())
    desk.budget.add(fetches=1)
    fetched, extracted = await desk.reader.read(url, seconds=seconds)
    desk.budget.add(bytes=len(fetched.body))
    digest, text = await desk.pages.put(extracted.markdown)
    return Page(
        url=fetched.url.partition("#")[0],
        title=extracted.title,
        level=fetched.level,
        status=fetched.status,
        media_type=fetched.media_type,
        published_at=extracted.published_at,
        fetched_at=datetime.now(UTC),
        content_hash=digest,
        chars=len(text),
    )


def _outcome(done: asyncio.Task[Page], hit: Hit, task: Task, emit: Emit) -> Page | Problem | None:
    try:
        page = done.result()
    except BudgetSpent:
        return None
    except FetchError as error:
        emit(Read(topic=task.topic.name, url=hit.url, title=hit.title, reason=str(error)))
        return _failed(hit, str(error))
    emit(Read(topic=task.topic.name, url=hit.url, title=page.title, chars=page.chars))
    return page


def _late(task: Task, hit: Hit, emit: Emit) -> Problem:
    reason = str(TooSlow(f"{host_of(hit.url)} did not answer in time."))
    emit(Read(topic=task.topic.name, url=hit.url, title=hit.title, reason=reason))
    return _failed(hit, reason)


def _failed(hit: Hit, reason: str) -> Problem:
    return Problem(stage="read", subject=hit.url, reason=reason, effect=f"“{hit.title or hit.url}” was not read.")


async def _cancelled(running: set[asyncio.Task[Any]]) -> None:
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
