"""Providers that a caller brings along: an object of their own, or a tool of LangChain."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from spadework.errors import SearchError, SettingsError
from spadework.tools.search.community import LangChainSearch
from spadework.tools.search.provider import Provider, held_to
from spadework.tools.search.search_filters import Meeting
from spadework.values import Hit, Query, Wish

_NAME_CHARS = 40


class OwnSearch:
    """A caller's provider, held to what providers promise: what it raises ends no run."""

    def __init__(self, provider: Provider, name: str) -> None:
        self.name = name
        self.describes = str(getattr(provider, "describes", "") or f"what {name} searches")
        self._provider = provider

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """What the provider says that it meets."""
        return self._provider.meets(query) if isinstance(self._provider, Meeting) else frozenset()

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The provider's hits, numbered and named. See `Provider.search`."""
        async with held_to(self.name, seconds):
            found = list(await self._provider.search(query, limit=limit, seconds=seconds))
        if not all(isinstance(hit, Hit) for hit in found):
            raise SearchError(
                f"{self.name} answered with something that is no spadework.values.Hit."
            )
        given = {"provider": self.name, "query": query.text}
        return [
            hit.model_copy(update=given | {"position": n}) for n, hit in enumerate(found[:limit], 1)
        ]


def own_providers(given: Iterable[Any], taken: Sequence[str] = ()) -> list[Provider]:
    """A caller's providers, each under a name that is not `taken`: objects with `search(query, *,
    limit, seconds)`, or LangChain's with `ainvoke`. Raises SettingsError for others.
    """
    made: list[Provider] = []
    for source in given:
        # One lower-case word: its own name, or that of its class.
        own = getattr(source, "name", None)
        said = own if isinstance(own, str) and own else type(source).__name__
        word = "-".join(re.findall(r"[a-z0-9]+", said.lower()))[:_NAME_CHARS] or "own"
        name = _free(word, {*taken, *(provider.name for provider in made)})
        if inspect.iscoroutinefunction(getattr(source, "search", None)):
            made.append(OwnSearch(source, name))
        elif callable(getattr(source, "ainvoke", None)):
            made.append(LangChainSearch(source, name))
        else:
            kind = type(source).__name__
            raise SettingsError(
                f"providers cannot hold a {kind[:80]}: give an object with `async def search(query,"
                " *, limit, seconds)`, or a tool or retriever of LangChain."
            )
    return made


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (name if n == 1 else f"{name}-{n}" for n in range(1, len(taken) + 2))
    return next(one for one in numbered if one not in taken)
