"""One search at all chosen providers, for the tools that begin with one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from spadework.errors import SearchError
from spadework.settings import Settings
from spadework.tools.dense.meaning import Meaning, meaning_of
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.fuse import reciprocal_rank_fusion
from spadework.tools.inline import one_line
from spadework.tools.library import Library
from spadework.tools.rank import query_terms, relevance
from spadework.tools.search.choose import Choice, choose
from spadework.values import Found, Hit, Query

LIBRARY = "library://"
#: Characters of a title and of a snippet that are kept.
TITLE_CHARS, SNIPPET_CHARS = 300, 600


@dataclass(frozen=True)
class Looked:
    """What a search gave: fused hits, best first, what was searched, and what failed."""

    hits: Sequence[Hit]
    searched: Sequence[str]
    failed: Sequence[str]
    notices: Sequence[str]


class Shelf:
    """The library of a call: opened when it is first needed, closed with the call."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._library: Library | None = None
        self._meaning: Meaning | None = None

    @property
    def lost(self) -> list[str]:
        """What was not found by its meaning, each as a sentence or two."""
        return (
            [f"{one.reason} {one.effect}" for one in self._meaning.problems]
            if self._meaning
            else []
        )

    async def library(self) -> Library:
        """The library of the settings."""
        if self._library is None:
            # The one of a failed opening is used again.
            self._meaning = self._meaning or meaning_of(self._settings)
            self._library = await Library.open(
                self._settings.library, home=self._settings.home, meaning=self._meaning
            )
        return self._library

    async def close(self) -> None:
        """Give back the files of the library, if it was opened, and the connections of the model
        for embeddings.
        """
        if self._library is not None:
            self._library.close()
        if self._meaning is not None:
            await self._meaning.close()


@asynccontextmanager
async def shelf(settings: Settings) -> AsyncIterator[Shelf]:
    """A shelf for the time of a call."""
    made = Shelf(settings)
    try:
        yield made
    finally:
        await made.close()


async def look(query: str, settings: Settings, books: Shelf) -> Looked:
    """Ask all providers of the settings once. Raises SearchError when every one of them failed,
    SettingsError for an unknown one.
    """
    choice = await choose(settings, books.library)
    asked = Query(text=" ".join(query.split()))
    search = choice.search(settings)
    try:
        found = await search.search(
            asked, limit=settings.search_results, seconds=settings.search_seconds
        )
    finally:
        await search.close()
    failed = [f"{name}: {hits}" for name, hits in found if isinstance(hits, SearchError)]
    if failed and len(failed) == len(found):
        raise SearchError(f"No search was answered. {' '.join(failed)}")
    terms = query_terms(asked.text)
    lists = [
        [_ranked(hit, asked, terms) for hit in hits if _readable(hit.url)]
        for _, hits in found
        if not isinstance(hits, SearchError)
    ]
    return Looked(
        reciprocal_rank_fusion(lists, k=settings.rrf_k),
        _described(choice),
        failed,
        (*choice.notices, *books.lost),
    )


def _ranked(hit: Hit, query: Query, terms: Sequence[str]) -> Hit:
    hit = hit.model_copy(
        update={
            "title": one_line(hit.title, TITLE_CHARS),
            "snippet": one_line(hit.snippet, SNIPPET_CHARS),
        }
    )
    found = Found(query=query.text, kind=query.kind, provider=hit.provider, rank=hit.position)
    return hit.model_copy(
        update={
            "relevance": relevance(hit.title, hit.snippet, hit.position, terms),
            "found_by": (found,),
        }
    )


def _readable(url: str) -> bool:
    return url.startswith(LIBRARY) or is_http_url(url)


def _described(choice: Choice) -> list[str]:
    return [provider.describes for provider in choice.providers]
