"""Reading for one task: many pages at once, a reserve for every page that fails, until the soft
deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from spadework.errors import FetchError, NotAllowed, TooLarge
from spadework.events import Read, Reading
from spadework.graph.desk import Desk
from spadework.graph.emit import Emit
from spadework.tools.extract.child import read_apart
from spadework.tools.fetch.pool import Began, Came, Failed, Left, Limits, Outcome, read_many
from spadework.tools.inline import one_line
from spadework.tools.journal import Journal
from spadework.tools.knowledge.gate import fresh_since
from spadework.tools.orders import is_order
from spadework.tools.urls import canonical_url, host_of
from spadework.values import Hit, Page, Problem, Task

LIBRARY = "library://"
#: Local documents are at level -1: nothing was fetched.
LOCAL = -1

#: A page is slow after `slow_page_seconds`, but at the latest after this share of the time it has.
SLOW_SHARE = 0.3


async def read_pages(
    desk: Desk,
    task: Task,
    chosen: Sequence[Hit],
    reserve: Sequence[Hit],
    emit: Emit,
    taken: AbstractSet[str] = frozenset(),
) -> tuple[list[Page], list[Problem]]:
    """The pages of `chosen` in their order, replaced by those of `reserve` where one fails or is
    slow; what came by the deadline counts.

    Those at the canonical URLs `taken` are other workers': they are read along, and take no place
    of another where there is one.
    """
    hits = [*chosen, *reserve]
    pages: dict[str, Page] = {}
    problems: list[Problem] = []
    wanted = sum(canonical_url(hit.url) not in taken for hit in chosen)
    if not wanted:  # all are others': each fills a place, or none would be read
        wanted, taken = len(chosen), frozenset()
    others: set[str] = set()
    since = fresh_since(task.queries, desk.settings)

    async def read(hit: Hit, seconds: float) -> Page:
        page = await read_page(desk, hit, seconds, since)
        others.update([page.url] if canonical_url(hit.url) in taken else [])
        return page

    def place(page: Page) -> str | None:
        return page.url if page.url not in others else None

    reading = read_many(hits, read, _limits(desk, wanted), group=_host, key=place, stop=desk.stop)
    async with aclosing(reading) as outcomes:
        async for outcome in outcomes:
            emit(_event(task.topic.name, outcome))
            problems += _problems(outcome)
            if isinstance(outcome, Came):
                pages[outcome.result.url] = outcome.result
    order = {canonical_url(hit.url): n for n, hit in enumerate(hits)}
    return (
        sorted(pages.values(), key=lambda page: order.get(canonical_url(page.url), len(order))),
        problems,
    )


def _limits(desk: Desk, wanted: int) -> Limits:
    settings, seconds = desk.settings, desk.budget.phase("read")
    return Limits(
        wanted=wanted,
        parallel=settings.parallel_pages,
        per_group=settings.parallel_per_host,
        page_seconds=settings.page_seconds,
        slow_seconds=min(
            settings.slow_page_seconds, SLOW_SHARE * min(settings.page_seconds, seconds)
        ),
        until=asyncio.get_running_loop().time() + seconds,
    )


def _host(hit: Hit) -> str:
    """The host that is asked for a page; documents of a library are not asked of anybody."""
    return "" if hit.url.startswith(LIBRARY) else host_of(hit.url)


async def read_page(desk: Desk, hit: Hit, seconds: float, since: datetime | None = None) -> Page:
    """The page of a hit, read once in the session, with what the hit knows of it.

    One that an earlier run has fetched since then is taken from the knowledge store.
    """

    async def work() -> Page:
        desk.budget.charge("pages")
        local = hit.url.startswith(LIBRARY)
        known = None if local else await _known(desk, hit.url, since)
        return known or await (
            _from_library(desk, hit.url) if local else _from_web(desk, hit.url, seconds)
        )

    page = await desk.journal.once("page", _key(hit), Page, work)
    own_title = "" if is_order(page.title) else page.title
    return page.model_copy(
        update={
            "title": one_line(own_title or hit.title),
            "author": "" if is_order(page.author) else one_line(page.author),
            "published_at": page.published_at or hit.published_at,
            "relevance": hit.relevance,
            "rrf": hit.rrf,
            "found_by": hit.found_by,
        }
    )


async def failed_for_good(journal: Journal, hit: Hit) -> bool:
    """Whether the page of a hit was tried in the session and need not be tried again."""
    try:
        await journal.known("page", _key(hit), Page)
    except FetchError:
        return True
    return False


def _key(hit: Hit) -> dict[str, str]:
    return {"url": canonical_url(hit.url)}


async def attached_pages(
    desk: Desk, attachments: Sequence[str]
) -> tuple[list[Page], list[Problem]]:
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
            reason = (
                f"{path.name} cannot be read:"
                f" {getattr(error, 'strerror', None) or error or 'it took too long'}"
            )
            problems.append(
                Problem(stage="read", subject=path.name, reason=reason, effect="It was not used.")
            )
    return pages, problems


async def _attached(desk: Desk, path: Path, url: str) -> Page:
    most, seconds = desk.settings.page_bytes, desk.budget.phase("plan", "search")
    async with asyncio.timeout(seconds):
        if (await asyncio.to_thread(path.stat)).st_size > most:
            raise TooLarge(f"it has more than {most} bytes")
        body = await asyncio.to_thread(path.read_bytes)
        extracted = await read_apart(body, media_type="", url=url, charset="", seconds=seconds)
    return await _local(
        desk, url, extracted.title or path.name, extracted.markdown, extracted.published_at
    )


async def _from_library(desk: Desk, url: str) -> Page:
    if desk.library is None:
        raise FetchError(f"{url} is in a library that is not open.")
    document = await desk.library.document(url)
    return await _local(desk, url, document.title, document.markdown, document.published_at)


async def _local(
    desk: Desk, url: str, title: str, markdown: str, published_at: datetime | None
) -> Page:
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


async def _known(desk: Desk, url: str, since: datetime | None) -> Page | None:
    """The page as the knowledge store has it, with the day on which it was fetched."""
    entry = await desk.knowing.page(url, since)
    if entry is None:
        return None
    desk.budget.add(cache_hits=1)
    digest, text = await desk.pages.put(entry.text)
    return entry.page.model_copy(update={"content_hash": digest, "chars": len(text), "known": True})


async def _from_web(desk: Desk, url: str, seconds: float) -> Page:
    desk.budget.add(fetches=1)
    fetched, extracted = await desk.reader.read(url, seconds=seconds)
    desk.budget.add(
        cache_hits=int(fetched.from_cache), bytes=0 if fetched.from_cache else len(fetched.body)
    )
    digest, text = await desk.pages.put(extracted.markdown)
    if extracted.links:
        await desk.links.put(fetched.url, extracted.links)
    return Page(
        url=fetched.url.partition("#")[0],
        title=extracted.title,
        author=extracted.author,
        level=fetched.level,
        status=fetched.status,
        media_type=fetched.media_type,
        published_at=extracted.published_at,
        fetched_at=fetched.dated or datetime.now(UTC),
        stale=fetched.stale,
        content_hash=digest,
        chars=len(text),
    )


def _event(topic: str, outcome: Outcome[Hit, Page]) -> Reading | Read:
    """What happened to a hit, for those who watch."""
    hit = outcome.candidate
    if isinstance(outcome, Began):
        return Reading(topic=topic, url=hit.url, title=hit.title)
    if isinstance(outcome, Came):
        return Read(
            topic=topic,
            url=hit.url,
            title=outcome.result.title,
            chars=outcome.result.chars,
            known=outcome.result.known,
        )
    return Read(topic=topic, url=hit.url, title=hit.title, reason=_reason(outcome))


def _reason(outcome: Failed[Hit] | Left[Hit]) -> str:
    """Why a hit was not read."""
    if isinstance(outcome, Failed):
        return str(outcome.error)
    if outcome.why == "not needed":
        return f"{host_of(outcome.candidate.url)} was slow, and another page came first."
    if outcome.why == "budget":
        return "The budget of pages is spent."
    return f"{host_of(outcome.candidate.url)} did not answer in time."


def _problems(outcome: Outcome[Hit, Page]) -> list[Problem]:
    """What the reader of the report must know about a hit: that it was not read, or is perhaps out
    of date.
    """
    hit = outcome.candidate
    name = f"“{hit.title or hit.url}”"
    if isinstance(outcome, Came) and outcome.result.stale:
        day = outcome.result.fetched_at
        reason = (
            f"{host_of(hit.url)} could not be reached; the copy of {day.day} {day:%B %Y} was read."
        )
        return [
            Problem(
                stage="read", subject=hit.url, reason=reason, effect=f"{name} may be out of date."
            )
        ]
    if isinstance(outcome, Failed) or (
        isinstance(outcome, Left) and outcome.why in ("deadline", "stopped")
    ):
        return [
            Problem(
                stage="read",
                subject=hit.url,
                reason=_reason(outcome),
                effect=f"{name} was not read.",
            )
        ]
    return []
