"""List the search providers, and choose those of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio

from spadework.errors import SearchError, SettingsError
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.search.duckduckgo import HOST, DuckDuckGo
from spadework.tools.search.failover import Manners, Search
from spadework.tools.search.langchain_tools import own_providers
from spadework.tools.search.provider import Provider
from spadework.tools.search.result_cache import SearchCache
from spadework.tools.search.scholarly import Arxiv, OpenAlex, PubMed, Wikipedia
from spadework.tools.search.web_services import Brave, SearXNG, Serper, Tavily
from spadework.tools.web import name_lookup
from spadework.tools.web.connections import proxy_for
from spadework.values import Hit, Query


@dataclass(frozen=True)
class Spec:
    """How to make a provider. `setting` names the setting it requires, if any."""

    make: Callable[[Settings], Provider]
    setting: str = ""

    @property
    def variable(self) -> str:
        """The environment variable of the required setting."""
        return self.setting.upper()

    def configured(self, settings: Settings) -> bool:
        """Return whether the provider requires a setting and it is set."""
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
    """Return whether a TCP connection succeeds within `seconds`, including name lookup."""
    name_lookup.install_resolver()
    try:
        async with asyncio.timeout(seconds):
            # Works in uvloop too. A silent address delays the next by 0.25 s.
            stream = await anyio.connect_tcp(host, port)
    except (OSError, UnicodeError):
        return False
    await stream.aclose()
    return True


#: Opens a fallback provider. Returns None if it is unreachable.
Spare = Callable[[], Coroutine[Any, Any, Provider | None]]
AUTO, MCP = "auto", "mcp"
DUCKDUCKGO, LIBRARY = "duckduckgo", "library"
NAMES = (AUTO, *PROVIDERS, MCP, LIBRARY)
PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Choice:
    """The providers to search, and notices for the user. Results of `kept` are cached for other
    sessions. `spares` are tried in turn if all providers fail.
    """

    providers: tuple[Provider, ...]
    notices: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    spares: tuple[Spare, ...] = ()

    def search(self, settings: Settings) -> Search:
        """Return a `Search` over the providers, with their rate limits and the cache."""
        cache = SearchCache.of(settings)
        manners = Manners(limits=settings.search_limits, cache=cache, kept=self.kept)
        return Search(self.providers, manners)


async def choose(
    settings: Settings, open_library: Callable[[], Awaitable[Library]], own: Sequence[Any] = ()
) -> Choice:
    """Choose the providers named in `settings.search`, and the caller's (`own`).
    "auto" means the caller's, or else those with a key, address or path. Without any, it means
    DuckDuckGo, which is also their spare, or the library (with a notice) if the web is
    unreachable. `open_library` is called only if needed. Raises SettingsError for an unknown name,
    or a provider without its key or address.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names and not own else []
    offline = found == [LIBRARY] and not settings.library
    chosen = dict.fromkeys([*found, *(name for name in names if name != AUTO)])
    named = {name: await providers_named(name, settings, open_library) for name in chosen}
    notices: tuple[str, ...] = ()
    if offline:
        notices = ("The web cannot be reached, so only installed documentation is searched.",)
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
    """Return the names of the providers to search, without duplicates.
    Raises SettingsError like `choose`.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names else []
    return list(dict.fromkeys([*found, *(name for name in names if name != AUTO)]))


def usable(settings: Settings) -> list[str]:
    """Return the names of all providers whose required settings are set."""
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
    """Return the providers that a known name stands for.
    Raises SettingsError for an invalid setting.
    """
    if name in PROVIDERS:
        return [await asyncio.to_thread(PROVIDERS[name].make, settings)]
    if name == MCP:
        # Imported here, because most runs do not need the MCP client.
        from spadework.tools.search.mcp_tool import mcp_searches

        return mcp_searches(settings.mcp_search.get_secret_value() if settings.mcp_search else "")
    # Imported here, because most web searches do not need the index.

    return [LibrarySearch(await open_library())]


class LibrarySearch:
    """Searches an opened library."""

    name = "library"

    def __init__(self, library: Library) -> None:
        self.library = library

    @property
    def describes(self) -> str:
        """The library described in words for a report."""
        return self.library.describe

    async def prepare(self, query: Query) -> None:
        """Build a missing index, and read whole the packages that the query names. Raises
        SearchError.
        """
        try:
            await self.library.build()
            await self.library.widen(query.text)
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most `limit` documents, best first.
        Raises SearchError after `seconds`, or if the index cannot be built.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self.library.search(query.text, limit=limit)
        except TimeoutError:
            raise SearchError(f"The library did not answer within {seconds:g} seconds.") from None
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error
