"""Get pages from the web, a library, files or earlier runs, and record them for replays."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from urllib.parse import quote

from spadework.errors import FetchError, NotAllowed, TooLarge
from spadework.graph.context import SessionContext
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.process import read_apart
from spadework.tools.fetch.exchange import Fetched
from spadework.tools.fetch.page_pool import PAGE_SECONDS
from spadework.tools.fetch.page_reader import Fetch
from spadework.tools.ranking.selection import LOCAL
from spadework.tools.stores.exchanges import Piece, Request, Tape
from spadework.tools.text.prompt_injection import is_injection
from spadework.tools.web.urls import canonical_url
from spadework.values import Attempt, Hit, Page, Problem, Value
from spadework.visible import one_line

LANGUAGE_CHARS = 40
LOCAL_LEVEL = -1


class Kept(Value):
    """A page from an earlier run."""

    page: Page
    text: str


def name_for_people(text: str) -> str:
    """Return a title or author on one line, or "" if it looks like a prompt injection."""
    return "" if is_injection(text) else one_line(text)


async def from_web(context: SessionContext, url: str, seconds: float) -> Page:
    """Return the page at a URL. The response is recorded before it is parsed, so that a resumed run
    does not fetch it again. Raises FetchError.
    """
    key = {"url": canonical_url(url)}
    level = await context.noted("level", key, context.reader.level_at(url), 0)
    began, fetching = time.monotonic(), 0.0

    async def had(at: int, fetch: Fetch) -> Fetched:
        request = Request("page", {**key, "level": at} if at else key, about=url)

        async def timed() -> Fetched:
            nonlocal fetching
            asked_at = time.monotonic()
            try:
                return await fetch()
            finally:
                fetching += time.monotonic() - asked_at

        return await fetch_recorded(context, request, timed)

    if context.journal.recording is not None:
        seconds = max(seconds, PAGE_SECONDS)
    fetched, extracted = await context.reader.read(url, seconds=seconds, level=level, had=had)
    page = await _keep(context, fetched, extracted)
    cleaning = round(time.monotonic() - began - fetching, 3)
    return page.model_copy(update={"cleaning": cleaning, "attempts": fetched.attempts})


async def fetch_recorded(context: SessionContext, request: Request, fetch: Fetch) -> Fetched:
    """Return the response of `fetch`, recorded and charged to the budget. Raises FetchError."""

    async def ask(tape: Tape) -> Fetched:
        made: Sequence[Attempt] = (Attempt(),)  # Used if the fetch is cancelled.
        try:
            fetched = await fetch()
            made = fetched.attempts
        except FetchError as error:
            made = error.attempts
            raise
        finally:
            context.budget.add(
                fetches=sum(not attempt.cached for attempt in made),
                cache_hits=sum(attempt.cached for attempt in made),
                bytes=sum(attempt.bytes for attempt in made),
            )
        dated = fetched.dated or datetime.now(UTC)
        fetched = replace(fetched, dated=dated)
        attempts = [attempt.model_dump() for attempt in fetched.attempts]
        head = asdict(replace(fetched, body=b"", attempts=()))
        del head["body"]
        tape.add(head | {"dated": dated.isoformat(), "attempts": attempts}, fetched.body)
        return fetched

    return await context.journal.exchange(request, ask, _fetched_of_tape)


async def _keep(context: SessionContext, fetched: Fetched, extracted: Extracted) -> Page:
    digest, text = await context.pages.put(extracted.markdown)
    if extracted.links:
        await context.links.put(fetched.url, extracted.links)
    if extracted.figures:
        await context.figures.put(fetched.url, extracted.figures)
    return Page(
        url=fetched.url.partition("#")[0],
        title=extracted.title,
        author=extracted.author,
        language=one_line(extracted.language, LANGUAGE_CHARS),
        kind=extracted.source,
        bytes=len(fetched.body),
        level=fetched.level,
        status=fetched.status,
        media_type=fetched.media_type,
        published_at=extracted.published_at,
        fetched_at=fetched.dated or datetime.now(UTC),
        stale=fetched.stale,
        content_hash=digest,
        chars=len(text),
    )


async def from_knowledge(context: SessionContext, url: str, since: datetime | None) -> Page | None:
    """Return the page if `since` is set and an earlier run fetched it after that, else None."""

    async def work() -> Kept | None:
        entry = await context.page_cache.page(url, since)
        return None if entry is None else Kept(page=entry.page, text=entry.text)

    kept = await context.journal.moment(
        "known page", {"url": canonical_url(url)}, Kept | None, work, None
    )
    if kept is None:
        return None
    context.budget.add(cache_hits=1)
    digest, text = await context.pages.put(kept.text)
    known = {"content_hash": digest, "chars": len(text), "known": True, "attempts": ()}
    return kept.page.model_copy(update=known)


async def from_library(context: SessionContext, url: str) -> Page:
    """Return a document from the library. Raises FetchError."""

    async def ask(tape: Tape) -> Piece:
        if context.library is None:
            raise FetchError(f"{url} is in a library that is not open.")
        document = await context.library.document(url)
        day = document.published_at.isoformat() if document.published_at else None
        head = {"title": document.title, "published_at": day, "author": document.author}
        tape.add(head, document.markdown.encode(errors="surrogatepass"))
        return tape.last

    async def read(tape: Tape) -> Piece:
        return tape.last

    request = Request("document", {"url": url}, about=url)
    head, body = await context.journal.exchange(request, ask, read)
    day = datetime.fromisoformat(head["published_at"]) if head["published_at"] else None
    text = body.decode(errors="surrogatepass")
    page = await _local(context, url, head["title"], text, day)
    return page.model_copy(update={"author": head.get("author", "")})


async def from_provider(context: SessionContext, hit: Hit) -> Page:
    """Return the page whose text came with the hit."""
    return await _local(context, hit.url, hit.title, hit.text, hit.published_at)


async def attached_pages(
    context: SessionContext, attachments: Sequence[str]
) -> tuple[list[Page], list[Problem]]:
    """Return the attached files as pages, and the problems with them. Files are refused if the
    graph runs without a session, because its input may then come from anyone.
    """
    pages: list[Page] = []
    problems: list[Problem] = []
    for n, name in enumerate(attachments, 1):
        path = Path(name)
        try:
            if context.owned_by_graph:
                raise NotAllowed("Files can be attached only to a session.")
            url = f"{LOCAL}attached/{n}-{quote(path.name)}"
            pages.append(await _read_attachment(context, path, url))
        except (FetchError, TimeoutError) as error:
            reason = f"{path.name} cannot be read: {str(error) or 'reading took too long'}"
            lost = Problem(
                stage="attachment", subject=path.name, reason=reason, effect="The file was ignored."
            )
            problems.append(lost)
    return pages, problems


async def _read_attachment(context: SessionContext, path: Path, url: str) -> Page:
    most, seconds = context.settings.page_bytes, context.budget.phase("plan", "search")

    async def ask(tape: Tape) -> Extracted:
        try:
            found = await asyncio.to_thread(path.stat)
            if not S_ISREG(found.st_mode):  # Reading a pipe or device might never end.
                raise FetchError("it is not a file")
            if found.st_size > most:
                raise TooLarge(f"it has more than {most} bytes")
            tape.add({}, await asyncio.to_thread(path.read_bytes))
        except OSError as error:
            raise FetchError(error.strerror or str(error)) from None
        return await read(tape)

    async def read(tape: Tape) -> Extracted:
        body = tape.last.body
        return await read_apart(body, media_type="", url=url, charset="", seconds=seconds)

    async with asyncio.timeout(seconds):
        extracted = await context.journal.exchange(
            Request("attached", {"url": url}, about=path.name), ask, read
        )
    title = name_for_people(extracted.title) or path.name
    page = await _local(context, url, title, extracted.markdown, extracted.published_at)
    return page.model_copy(update={"kind": "own"})


async def _local(
    context: SessionContext, url: str, title: str, markdown: str, published_at: datetime | None
) -> Page:
    digest, text = await context.pages.put(markdown)
    return Page(
        url=url,
        title=title,
        level=LOCAL_LEVEL,
        media_type="text/markdown",
        published_at=published_at,
        fetched_at=datetime.now(UTC),
        content_hash=digest,
        chars=len(text),
    )


async def _fetched_of_tape(tape: Tape) -> Fetched:
    head, body = tape.last
    day = datetime.fromisoformat(head["dated"]) if head["dated"] else None
    attempts = tuple(Attempt(**attempt) for attempt in head.get("attempts", ()))
    return Fetched(**{**head, "dated": day, "body": body, "attempts": attempts})
