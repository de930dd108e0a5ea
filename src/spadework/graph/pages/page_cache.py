"""Pages from earlier runs: consulted before the web, extended at the end. Never stops a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TypeVar

from spadework.errors import KnowledgeError
from spadework.settings import Settings
from spadework.tools.dense.passage_vectors import Meaning
from spadework.tools.fetch.guard import is_owned
from spadework.tools.knowledge import Entry, Knowledge, Recalled
from spadework.tools.knowledge.entry import worth_keeping
from spadework.tools.web.urls import host_of
from spadework.values import Page, Problem

T = TypeVar("T")

#: Maximum seconds to wait for the store.
ANSWER_SECONDS = 4.0
#: Maximum seconds that the report, and the session's end, wait for additions.
REPORT_SECONDS, CLOSING_SECONDS = 0.2, 8.0


class PageCache:
    """The knowledge store of one run, if any. `problem` is why it cannot be used; `left` returns
    the seconds in which it may be asked. `meaning`, the embedding model for it and the library, is
    closed with it.
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
        """Current problems of the store and the embedding model."""
        return [
            *([self.problem] if self.problem else []),
            *(self._meaning.problems if self._meaning else []),
        ]

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Return pages fetched since then that match a question; [] if the store cannot answer."""
        if self._store is None or self.problem:
            return []
        found = await self._answer(
            self._store.search(text, limit=limit, since=since), list[Recalled]()
        )
        return [one for one in found if self._may_see(one.entry)]

    async def page(self, url: str, since: datetime | None) -> Entry | None:
        """Return the page at a URL if it was fetched since then."""
        if self._store is None or self.problem or since is None:
            return None
        entry = await self._answer(self._store.find(url, since=since), None)
        return entry if entry and self._may_see(entry) else None

    def keep(self, pages: Iterable[Page], text_of: Callable[[str], Awaitable[str]]) -> None:
        """Start adding the new pages worth storing; `text_of` returns the text of a content
        hash.
        """
        new = [page for page in pages if page.url not in self._begun and worth_keeping(page)]
        if self._store and new:
            self._begun |= {page.url for page in new}
            self._adding.add(asyncio.create_task(self._add(self._store, new, text_of)))

    async def settle(self) -> list[Problem]:
        """Wait briefly for additions; return the current problems."""
        if self._adding:
            await asyncio.wait(self._adding, timeout=REPORT_SECONDS)
        return self.problems

    async def close(self) -> None:
        """Finish additions and close the store, even when cancelled."""
        async with AsyncExitStack() as closing:
            if self._meaning:
                closing.push_async_callback(self._meaning.close)
            if self._store:
                closing.push_async_callback(self._store.close)
            if self._adding:
                # Last in, first out: cancelled, then awaited.
                closing.push_async_callback(asyncio.wait, self._adding)
                for adding in self._adding:
                    closing.callback(adding.cancel)
                await asyncio.wait(self._adding, timeout=CLOSING_SECONDS)
        for adding in self._adding:
            if not adding.cancelled():
                adding.result()  # our own faults are raised

    async def _add(
        self, store: Knowledge, pages: Sequence[Page], text_of: Callable[[str], Awaitable[str]]
    ) -> None:
        # Only what is true for every run is stored: not the question that led to a page, nor its
        # relevance.
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
            self._failed(error, "The pages of this run were not kept for later ones.")

    async def _answer(self, work: Awaitable[T], otherwise: T) -> T:
        seconds = min(ANSWER_SECONDS, self._left())
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            fault = KnowledgeError(f"It did not answer within {seconds:.3g} s.")
        except KnowledgeError as error:
            fault = error
        self._failed(fault, "What earlier runs have read was not used.")
        return otherwise

    def _failed(self, error: Exception, effect: str) -> None:
        reason = f"{error} {getattr(error, 'hint', '')}".strip()
        self.problem = self.problem or Problem(
            stage="knowledge", subject="knowledge store", reason=reason, effect=effect
        )

    def _may_see(self, entry: Entry) -> bool:
        """Return whether a page may be used: one of a private host only by those who may visit
        it.
        """
        return not entry.own or is_owned(host_of(entry.page.url), self._owned)
