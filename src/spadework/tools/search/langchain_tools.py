"""Use the caller's own providers, or LangChain's search tools and retrievers.
LangChain itself is not imported.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence, Set as AbstractSet
from contextvars import copy_context
from dataclasses import replace
from typing import Any

from spadework.errors import SearchError, SettingsError, must_be
from spadework.tools.search.provider import Provider, held_to
from spadework.tools.search.result_rows import (
    Meeting,
    Row,
    document_url,
    find_list,
    is_web,
    number_rows,
    row,
    with_sites,
)
from spadework.tools.web.background_threads import aside
from spadework.values import Hit, Query, Wish

_NAME_CHARS = 40


class OwnSearch:
    """A caller's provider, wrapped so that its errors do not end the run."""

    def __init__(self, provider: Provider, name: str) -> None:
        self.name = name
        self.describes = str(getattr(provider, "describes", "") or f"the sources of {name}")
        self._provider = provider

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters that the provider declares."""
        return self._provider.meets(query) if isinstance(self._provider, Meeting) else frozenset()

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the provider's hits, numbered and labelled with its name."""
        async with held_to(self.name, seconds):
            found = list(await self._provider.search(query, limit=limit, seconds=seconds))
        if not all(isinstance(hit, Hit) for hit in found):
            raise SearchError(f"{self.name} returned something that is not a spadework.values.Hit.")
        given = {"provider": self.name, "query": query.text}
        return [
            hit.model_copy(update=given | {"position": n, "url": self._address(hit)})
            for n, hit in enumerate(found[:limit], 1)
        ]

    def _address(self, hit: Hit) -> str:
        return document_url(self.name, hit.text) if hit.text and not is_web(hit.url) else hit.url


class LangChainSearch:
    """Searches with a LangChain tool or retriever. A blocking one gets its own thread, which is
    abandoned at the deadline. LangChain would use one of the event loop's few threads.
    """

    def __init__(self, tool_or_retriever: Any, name: str, *, describes: str = "") -> None:
        self.name = name
        self.describes = describes or f"the sources of {name}"
        self._source = tool_or_retriever

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the tool's results.
        Those with text need not be fetched. Raises SearchError if no result has a URL or text.
        """
        async with held_to(self.name, seconds):
            try:
                answer = await self._call(with_sites(query))
            except SearchError as error:  # its message may contain the tool's key
                why = f"{self.name} could not be searched: {type(error).__name__}."
                raise SearchError(why) from error
        results = find_list(answer)
        if results is None:
            raise SearchError(f"{self.name} returned no list of results.")
        rows = _join_parts(map(row, results))
        hits = number_rows(rows, self.name, query, limit)
        if results and not hits:
            raise SearchError(
                f"{self.name} returned {len(results)} results, but none has a URL or text."
            )
        return hits

    async def _call(self, text: str) -> Any:
        asked = _tool_call(self._source, text)
        if _only_blocks(self._source):
            return await aside(copy_context().run, self._source.invoke, asked)
        return await self._source.ainvoke(asked)


def own_providers(given: Iterable[Any], taken: Sequence[str] = ()) -> list[Provider]:
    """Wrap a caller's providers under names that are not `taken`. They must have `search(query, *,
    limit, seconds)`, or LangChain's `ainvoke`. Raises SettingsError for other objects.
    """
    made: list[Provider] = []
    for source in given:
        # Make one lower-case word from the object's name or its class name.
        own = getattr(source, "name", None)
        said = own if isinstance(own, str) and own else type(source).__name__
        word = "-".join(re.findall(r"[a-z0-9]+", said.lower()))[:_NAME_CHARS] or "own"
        name = _free(word, {*taken, *(provider.name for provider in made)})
        if inspect.iscoroutinefunction(getattr(source, "search", None)):
            made.append(OwnSearch(source, name))
        elif callable(getattr(source, "ainvoke", None)):
            made.append(LangChainSearch(source, name))
        else:
            wanted = "objects with `async def search(query, *, limit, seconds)`, or LangChain tools"
            kind = type(source).__name__
            raise SettingsError(must_be("providers", f"{wanted} or retrievers", kind))
    return made


def _tool_call(source: Any, text: str) -> Any:
    """Return the input of a tool or retriever. Only a tool call makes a tool give its artifact."""
    if getattr(source, "response_format", "") != "content_and_artifact":
        return text
    argument = next(iter(getattr(source, "args", None) or {}), "query")
    return {"type": "tool_call", "id": "search", "name": source.name, "args": {argument: text}}


def _join_parts(rows: Iterable[Row]) -> list[Row]:
    joined: dict[str, Row] = {}
    for n, one in enumerate(rows):
        key = one.url if one.text and is_web(one.url) else str(n)
        before = joined.get(key)
        joined[key] = replace(before, text=f"{before.text}\n\n{one.text}") if before else one
    return list(joined.values())


def _free(name: str, taken: set[str]) -> str:
    numbered = (name if n == 1 else f"{name}-{n}" for n in range(1, len(taken) + 2))
    return next(one for one in numbered if one not in taken)


def _only_blocks(source: Any) -> bool:
    """Return whether the async method only wraps the blocking one, as LangChain does by default."""
    if getattr(source, "coroutine", None) is not None:
        return False
    ways = (getattr(type(source), name, None) for name in ("_arun", "_aget_relevant_documents"))
    return any(way is not None and way.__module__.startswith("langchain_core.") for way in ways)
