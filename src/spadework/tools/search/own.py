"""Providers that a caller brings along: an object of one's own that searches, or a tool or
retriever of LangChain.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from spadework.errors import SearchError, SettingsError
from spadework.tools.search.community import LangChainSearch
from spadework.tools.search.provider import Provider
from spadework.tools.search.search_filters import Meeting
from spadework.values import Hit, Query, Wish

_NAME_CHARS = 40


class OwnSearch:
    """A caller's provider, held to what providers promise: whatever it raises is one failed search,
    and never the end of a run.
    """

    def __init__(self, provider: Provider, name: str) -> None:
        self.name = name
        self.describes = str(getattr(provider, "describes", "") or f"what {name} searches")
        self._provider = provider

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """What the provider says that it meets."""
        return self._provider.meets(query) if isinstance(self._provider, Meeting) else frozenset()

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The provider's hits, numbered and named. See `Provider.search`."""
        try:
            async with asyncio.timeout(seconds):
                found = list(await self._provider.search(query, limit=limit, seconds=seconds))
        except TimeoutError:
            raise SearchError(f"{self.name} did not answer within {seconds:g} s.") from None
        except SearchError:
            raise
        except Exception as error:  # foreign code; its words may hold its key
            raise SearchError(
                f"{self.name} could not be searched: {type(error).__name__}."
            ) from error
        if not all(isinstance(hit, Hit) for hit in found):
            raise SearchError(
                f"{self.name} answered with something that is no spadework.values.Hit."
            )
        given = {"provider": self.name, "query": query.text}
        return [
            hit.model_copy(update={**given, "position": n})
            for n, hit in enumerate(found[:limit], 1)
        ]


def own_providers(given: Iterable[Any], taken: Sequence[str] = ()) -> list[Provider]:
    """What a caller brought along as providers, each under a name of its own, none of them `taken`.

    An object with `search(query, *, limit, seconds)` is one of our kind, one with `ainvoke` a tool
    or retriever of LangChain. Raises SettingsError for anything else.
    """
    made: list[Provider] = []
    for source in given:
        name = _free(_name_source(source), {*taken, *(provider.name for provider in made)})
        if inspect.iscoroutinefunction(getattr(source, "search", None)):
            made.append(OwnSearch(source, name))
        elif callable(getattr(source, "ainvoke", None)):
            made.append(LangChainSearch(source, name))
        else:
            kind = type(source).__name__
            needed = (
                "an object with `async def search(query, *, limit, seconds)`, or a tool or"
                " retriever of LangChain"
            )
            raise SettingsError(f"providers cannot hold a {kind[:80]}: give {needed}.")
    return made


def _name_source(source: Any) -> str:
    """One lower-case word for a source: its own name, or that of its class."""
    own = getattr(source, "name", None)
    words = re.findall(
        r"[a-z0-9]+", (own if isinstance(own, str) and own else type(source).__name__).lower()
    )
    return "-".join(words)[:_NAME_CHARS] or "own"


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (name if n == 1 else f"{name}-{n}" for n in range(1, len(taken) + 2))
    return next(one for one in numbered if one not in taken)
