"""List and choose search providers, including the caller's LangChain tools and retrievers."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence, Set as AbstractSet
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio

from spadework.errors import SearchError, SettingsError, must_be
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.search.duckduckgo import HOST, DuckDuckGo
from spadework.tools.search.failover import Manners, Search, SearchCache
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
from spadework.tools.search.scholarly import Arxiv, OpenAlex, PubMed, Wikipedia
from spadework.tools.search.web_services import Brave, SearXNG, Serper, Tavily
from spadework.tools.text.language import ENGLISH
from spadework.tools.web.background_threads import aside
from spadework.tools.web.connections import install_resolver, proxy_for
from spadework.values import Hit, Query, Wish

_NAME_CHARS = 40


class OwnSearch:
    """Wraps a caller's provider, so that its errors do not end the run."""

    def __init__(self, provider: Provider, name: str) -> None:
        self.name = name
        described = getattr(provider, "describes", "")
        self.describes = str(described or ENGLISH("scope_sources", tool=name))
        self._provider = provider

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the filters that the provider declares as supported."""
        return self._provider.meets(query) if isinstance(self._provider, Meeting) else frozenset()

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the provider's hits with position, provider and query set. Raises SearchError."""
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
    """A provider wrapping a LangChain tool or retriever. Blocking code may outlive the deadline."""

    def __init__(self, tool_or_retriever: Any, name: str, *, describes: str = "") -> None:
        self.name = name
        self.describes = describes or ENGLISH("scope_sources", tool=name)
        self._source = tool_or_retriever

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the tool's results. Raises SearchError if none has a URL or text."""
        async with held_to(self.name, seconds):
            try:
                answer = await self._call(with_sites(query))
            except SearchError as error:  # its message may contain the tool's key
                why = f"{self.name} could not be searched: {type(error).__name__}."
                raise SearchError(why) from error
        results = find_list(answer)
        if results is None:
            raise SearchError(f"{self.name} did not return a list of results.")
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
    """Wrap a caller's providers under names that are not in `taken`. A provider needs
    `search(query, *, limit, seconds)` or LangChain's `ainvoke`. Raises SettingsError for other
    objects.
    """
    made: list[Provider] = []
    for source in given:
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
    """Return the input for a tool: the text or a tool call. A tool that returns an artifact gets a
    tool call, because it omits the artifact when given plain text.
    """
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
    """Return whether the source's async method only wraps its blocking method."""
    if getattr(source, "coroutine", None) is not None:
        return False
    ways = (getattr(type(source), name, None) for name in ("_arun", "_aget_relevant_documents"))
    return any(way is not None and way.__module__.startswith("langchain_core.") for way in ways)


@dataclass(frozen=True)
class Spec:
    """The function that makes a provider, and the setting that the provider requires."""

    make: Callable[[Settings], Provider]
    setting: str = ""

    @property
    def variable(self) -> str:
        """The environment variable of the required setting."""
        return self.setting.upper()

    def configured(self, settings: Settings) -> bool:
        """Return whether the provider requires a setting and this setting is set."""
        return bool(self.setting and getattr(settings, self.setting))

    def lacks_setting(self, settings: Settings) -> bool:
        """Return whether the provider requires a setting that is missing."""
        return bool(self.setting) and not self.configured(settings)


PROVIDERS: dict[str, Spec] = {
    "searxng": Spec(lambda s: SearXNG(s.searxng_url, agent=s.user_agent), "searxng_url"),
    "serper": Spec(lambda s: Serper(s.serper_api_key, agent=s.user_agent), "serper_api_key"),
    "tavily": Spec(lambda s: Tavily(s.tavily_api_key, agent=s.user_agent), "tavily_api_key"),
    "brave": Spec(lambda s: Brave(s.brave_api_key, agent=s.user_agent), "brave_api_key"),
    "duckduckgo": Spec(lambda s: DuckDuckGo()),
    "wikipedia": Spec(lambda s: Wikipedia(language=s.search_language, agent=s.user_agent)),
    "arxiv": Spec(lambda s: Arxiv(agent=s.user_agent)),
    "openalex": Spec(lambda s: OpenAlex(s.openalex_api_key, agent=s.user_agent)),
    "pubmed": Spec(lambda s: PubMed(agent=s.user_agent)),
}


async def reachable(host: str, port: int, *, seconds: float) -> bool:
    """Return whether a TCP connection succeeds within `seconds`."""
    install_resolver()
    try:
        async with asyncio.timeout(seconds):
            # Use anyio, because it also works with uvloop and tries the host's next address if one
            # does not answer within 0.25 s.
            stream = await anyio.connect_tcp(host, port)
    except (OSError, UnicodeError):
        return False
    await stream.aclose()
    return True


#: A function that opens a fallback provider, or returns None if it is unreachable.
Spare = Callable[[], Coroutine[Any, Any, Provider | None]]
AUTO, MCP = "auto", "mcp"
DUCKDUCKGO, LIBRARY = "duckduckgo", "library"
NAMES = (AUTO, *PROVIDERS, MCP, LIBRARY)
PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Choice:
    """The providers to search. `kept` names the providers whose results are cached. `spares` are
    functions that open fallback providers, to be tried in turn if all providers fail.
    """

    providers: tuple[Provider, ...]
    notices: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    spares: tuple[Spare, ...] = ()

    def search(self, settings: Settings) -> Search:
        """Return a `Search` with the providers' rate limits and the cache."""
        cache = SearchCache.of(settings)
        manners = Manners(limits=settings.search_limits, cache=cache, kept=self.kept)
        return Search(self.providers, manners)


async def choose(
    settings: Settings, open_library: Callable[[], Awaitable[Library]], own: Sequence[Any] = ()
) -> Choice:
    """Choose the providers named in `settings.search`, and the caller's providers (`own`).

    The name "auto" means the first of these that is available:

    - the caller's providers
    - all providers whose key, address or path is set
    - DuckDuckGo
    - the library

    `open_library` is called only if the library is chosen. Raises SettingsError for an unknown
    name, for a missing key or address, or for an unsuitable object in `own`.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names and not own else []
    offline = found == [LIBRARY] and not settings.library
    chosen = dict.fromkeys([*found, *(name for name in names if name != AUTO)])
    named = {name: await providers_named(name, settings, open_library) for name in chosen}
    notices: tuple[str, ...] = ()
    if offline:
        notices = (ENGLISH("scope_offline"),)
    providers = [provider for made in named.values() for provider in made]
    names_taken = [provider.name for provider in providers]
    spare = AUTO in names and not own and DUCKDUCKGO not in chosen
    return Choice(
        (*providers, *own_providers(own, names_taken)),
        notices,
        frozenset([*names_taken, *[DUCKDUCKGO] * spare]) - {LIBRARY},
        (partial(_duckduckgo, settings),) * spare,
    )


async def names_of(settings: Settings) -> list[str]:
    """Return the names of the providers to search, without duplicates. Raises SettingsError for an
    unknown name, or for a missing key or address.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names else []
    return list(dict.fromkeys([*found, *(name for name in names if name != AUTO)]))


def usable(settings: Settings) -> list[str]:
    """Return the names of providers whose required settings are set."""
    names = [name for name, known in PROVIDERS.items() if not known.lacks_setting(settings)]
    return [*names, *[MCP] * bool(settings.mcp_search), LIBRARY]


async def _duckduckgo(settings: Settings) -> Provider | None:
    if not await _web_is_there(settings):
        return None
    return await asyncio.to_thread(PROVIDERS[DUCKDUCKGO].make, settings)


async def _web_is_there(settings: Settings) -> bool:
    proxy = urlsplit(proxy_for(f"https://{HOST}") or f"https://{HOST}")
    port = proxy.port or (80 if proxy.scheme == "http" else 443)
    return await reachable(proxy.hostname or HOST, port, seconds=PROBE_SECONDS)


def _names(settings: Settings) -> list[str]:
    names = [name.strip().lower() for name in settings.search.split(",") if name.strip()] or [AUTO]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise SettingsError(
            f"Unknown search provider: {', '.join(unknown)[:80]}. Available: {', '.join(NAMES)}."
        )
    for name in names:
        if name in PROVIDERS and PROVIDERS[name].lacks_setting(settings):
            needed = PROVIDERS[name].variable
            what = "a key" if "KEY" in needed else "an address"
            raise SettingsError(f"The search provider {name} needs {what}. Set {needed}.")
    if MCP in names and not settings.mcp_search:
        raise SettingsError("The search provider mcp needs a tool. Set SPADEWORK_MCP_SEARCH.")
    return names


async def _automatic(settings: Settings) -> list[str]:
    configured = [name for name, known in PROVIDERS.items() if known.configured(settings)]
    configured += [MCP] * bool(settings.mcp_search) + [LIBRARY] * bool(settings.library)
    if configured:
        return configured
    return [DUCKDUCKGO] if await _web_is_there(settings) else [LIBRARY]


async def providers_named(
    name: str, settings: Settings, open_library: Callable[[], Awaitable[Library]]
) -> Sequence[Provider]:
    """Return the providers for a known name. Raises SettingsError for an invalid setting."""
    if name in PROVIDERS:
        return [await asyncio.to_thread(PROVIDERS[name].make, settings)]
    if name == MCP:
        # Import this only here, because most runs do not need the MCP client.
        from spadework.tools.search.mcp_tool import mcp_searches

        return mcp_searches(settings.mcp_search.get_secret_value() if settings.mcp_search else "")
    return [LibrarySearch(await open_library())]


class LibrarySearch:
    """A provider that searches an opened library."""

    name = "library"

    def __init__(self, library: Library) -> None:
        self.library = library

    @property
    def describes(self) -> str:
        """A description of the library, for reports."""
        return self.library.describe

    async def prepare(self, query: Query) -> None:
        """Build a missing index and read the packages the query is about. Raises SearchError."""
        try:
            await self.library.build(query.text)
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return up to `limit` documents, best first. Raises SearchError, also on a timeout."""
        try:
            async with asyncio.timeout(seconds):
                return await self.library.search(query.text, limit=limit)
        except TimeoutError:
            raise SearchError(f"The library did not answer within {seconds:g} seconds.") from None
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error
