"""Look for pages in earlier runs before the web, and store new pages. Failures never stop a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TypeVar

from spadework.errors import KnowledgeError
from spadework.settings import Settings
from spadework.tools.dense.embedder import Meaning
from spadework.tools.fetch.guard import is_owned
from spadework.tools.knowledge import Entry, Knowledge, Recalled
from spadework.tools.knowledge.entry import worth_keeping
from spadework.tools.web.urls import host_of
from spadework.values import Page, Problem

T = TypeVar("T")

ANSWER_SECONDS = 4.0
#: Maximum seconds to wait until new pages are stored: before the report, and at the end of the
#: session.
REPORT_SECONDS, CLOSING_SECONDS = 0.2, 8.0


class PageCache:
    """The knowledge store of one run, if there is any. `problem`: why it cannot be used; `left`:
    returns the seconds that an answer may take; `meaning`: the embedding model, which is closed
    with it.
    """

    def __init__(
        self,
        store: Knowledge | None,
        settings: Settings,
        left: Callable[[], float],
        meaning: Meaning | None = None,
    ) -> None:
        self.problem: Problem | None = None
        self._store = store
        self._left = left
        self._meaning = meaning
        self._owned = {host.lower() for host in settings.allow_hosts}
        self._begun: set[str] = set()
        self._adding: set[asyncio.Task[None]] = set()

    @property
    def problems(self) -> list[Problem]:
        """The problems of the store and the embedding model."""
        return [
            *([self.problem] if self.problem else []),
            *(self._meaning.problems if self._meaning else []),
        ]

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Return matching pages fetched since `since`, or [] if the store cannot answer."""
        if self._store is None or self.problem:
            return []
        found = await self._answer(
            self._store.search(text, limit=limit, since=since), list[Recalled]()
        )
        return [one for one in found if self._may_see(one.entry)]

    async def page(self, url: str, since: datetime | None) -> Entry | None:
        """Return the page at a URL if it was fetched since `since`, else None."""
        if self._store is None or self.problem or since is None:
            return None
        entry = await self._answer(self._store.find(url, since=since), None)
        return entry if entry and self._may_see(entry) else None

    def keep(self, pages: Iterable[Page], text_of: Callable[[str], Awaitable[str]]) -> None:
        """Start storing new pages worth keeping. `text_of` returns the text for a content hash."""
        new = [page for page in pages if page.url not in self._begun and worth_keeping(page)]
        if self._store and new:
            self._begun |= {page.url for page in new}
            self._adding.add(asyncio.create_task(self._add(self._store, new, text_of)))

    async def settle(self) -> list[Problem]:
        """Wait briefly until new pages are stored, and return the problems so far."""
        if self._adding:
            await asyncio.wait(self._adding, timeout=REPORT_SECONDS)
        return self.problems

    async def close(self) -> None:
        """Finish or cancel the storing of pages and close the store, even when cancelled."""
        async with AsyncExitStack() as closing:
            if self._meaning:
                closing.push_async_callback(self._meaning.close)
            if self._store:
                closing.push_async_callback(self._store.close)
            if self._adding:
                # Callbacks run in reverse order: cancel, then wait.
                closing.push_async_callback(asyncio.wait, self._adding)
                for adding in self._adding:
                    closing.callback(adding.cancel)
                await asyncio.wait(self._adding, timeout=CLOSING_SECONDS)
        for adding in self._adding:
            if not adding.cancelled():
                adding.result()  # Raises our own bugs.

    async def _add(
        self, store: Knowledge, pages: Sequence[Page], text_of: Callable[[str], Awaitable[str]]
    ) -> None:
        # Remove everything that is specific to this run, such as the ranking.
        bare = {"relevance": 0.0, "rrf": 0.0, "linked": 0.0, "found_by": (), "origin": ""}
        bare |= {"attempts": (), "cleaning": 0.0}
        try:
            entries = [
                Entry(
                    page.model_copy(update=bare),
                    await text_of(page.content_hash),
                    own=is_owned(host_of(page.url), self._owned),
                )
                for page in pages
            ]
            await store.add(entries)
        except (KnowledgeError, OSError) as error:
            self._failed(error, "This run's pages were not saved for later runs.")

    async def _answer(self, work: Awaitable[T], otherwise: T) -> T:
        seconds = min(ANSWER_SECONDS, self._left())
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            fault = KnowledgeError(f"The knowledge store did not answer within {seconds:.3g} s.")
        except KnowledgeError as error:
            fault = error
        self._failed(fault, "Pages of earlier runs were not used.")
        return otherwise

    def _failed(self, error: Exception, effect: str) -> None:
        reason = f"{error} {getattr(error, 'hint', '')}".strip()
        self.problem = self.problem or Problem(
            stage="knowledge", subject="knowledge store", reason=reason, effect=effect
        )

    def _may_see(self, entry: Entry) -> bool:
        return not entry.own or is_owned(host_of(entry.page.url), self._owned)
