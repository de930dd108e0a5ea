"""Choosing the search providers of a run from its settings, and from what can be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.search.probe import reachable
from spadework.tools.search.provider import Provider

if TYPE_CHECKING:
    from spadework.tools.library import Library

AUTO = "auto"
KNOWN = (AUTO, "searxng", "duckduckgo", "library")


@dataclass(frozen=True)
class Choice:
    """The providers to ask, all of them for every query, and what the user should know about the choice."""

    providers: tuple[Provider, ...]
    notices: tuple[str, ...] = ()


async def choose(settings: Settings, open_library: Callable[[], Awaitable[Library]]) -> Choice:
    """The providers that `settings.search` names. `open_library` is called only when the library is one of them.

    auto: those that are configured (SearXNG by its URL, the library by its paths); else DuckDuckGo where it can be reached; else the
    library, with a notice. Raises SettingsError for an unknown name, and for searxng without its URL.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names else []
    offline = found == ["library"] and not settings.library
    chosen = dict.fromkeys([*found, *(name for name in names if name != AUTO)])
    providers = {name: await _provider(name, settings, open_library) for name in chosen}
    notices = (f"The web cannot be reached; searching {providers['library'].describes} instead.",) if offline else ()
    return Choice(tuple(providers.values()), notices)


def _names(settings: Settings) -> list[str]:
    names = [name.strip().lower() for name in settings.search.split(",") if name.strip()] or [AUTO]
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise SettingsError(f"search cannot be {', '.join(unknown)[:80]!r}: the providers are {', '.join(KNOWN)}.")
    if "searxng" in names and not settings.searxng_url:
        raise SettingsError("search cannot be 'searxng' without its address: set SEARXNG_URL.")
    return names


async def _automatic(settings: Settings) -> list[str]:
    configured = ["searxng"] * bool(settings.searxng_url) + ["library"] * bool(settings.library)
    if configured:
        return configured
    from spadework.tools.search.duckduckgo import HOST

    return ["duckduckgo"] if await reachable(HOST, 443, seconds=settings.probe_seconds) else ["library"]


async def _provider(name: str, settings: Settings, open_library: Callable[[], Awaitable[Library]]) -> Provider:
    """The provider of a name; its module is imported only when it is used."""
    if name == "searxng":
        from spadework.tools.search.searxng import SearXNG

        return await asyncio.to_thread(SearXNG, settings.searxng_url)
    if name == "duckduckgo":
        from spadework.tools.search.duckduckgo import DuckDuckGo

        return DuckDuckGo()
    from spadework.tools.search.library import LibrarySearch

    return LibrarySearch(await open_library())
