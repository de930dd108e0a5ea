"""Choosing the search providers of a run from its settings, and from what can be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.search.duckduckgo import HOST
from spadework.tools.search.known import PROVIDERS
from spadework.tools.search.probe import reachable
from spadework.tools.search.provider import Provider

if TYPE_CHECKING:
    from spadework.tools.library import Library

AUTO, LIBRARY = "auto", "library"
KNOWN = (AUTO, *PROVIDERS, LIBRARY)


@dataclass(frozen=True)
class Choice:
    """The providers to ask, all of them for every query, and what the user should know about the choice."""

    providers: tuple[Provider, ...]
    notices: tuple[str, ...] = ()


async def choose(settings: Settings, open_library: Callable[[], Awaitable[Library]]) -> Choice:
    """The providers that `settings.search` names. `open_library` is called only when the library is one of them.

    auto: those that are configured (by their key or address, the library by its paths); else DuckDuckGo where it can be reached; else
    the library, with a notice. Raises SettingsError for an unknown name, and for a provider without the key or address it needs.
    """
    names = _names(settings)
    found = await _automatic(settings) if AUTO in names else []
    offline = found == [LIBRARY] and not settings.library
    chosen = dict.fromkeys([*found, *(name for name in names if name != AUTO)])
    providers = {name: await _provider(name, settings, open_library) for name in chosen}
    notices = (f"The web cannot be reached; searching {providers[LIBRARY].describes} instead.",) if offline else ()
    return Choice(tuple(providers.values()), notices)


def _names(settings: Settings) -> list[str]:
    names = [name.strip().lower() for name in settings.search.split(",") if name.strip()] or [AUTO]
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise SettingsError(f"search cannot be {', '.join(unknown)[:80]!r}: the providers are {', '.join(KNOWN)}.")
    for name in names:
        if name in PROVIDERS and PROVIDERS[name].lacking(settings):
            needed = PROVIDERS[name].variable
            raise SettingsError(f"search cannot be {name!r} without its {'key' if 'KEY' in needed else 'address'}: set {needed}.")
    return names


async def _automatic(settings: Settings) -> list[str]:
    configured = [name for name, known in PROVIDERS.items() if known.configured(settings)] + [LIBRARY] * bool(settings.library)
    if configured:
        return configured
    return ["duckduckgo"] if await reachable(HOST, 443, seconds=settings.probe_seconds) else [LIBRARY]


async def _provider(name: str, settings: Settings, open_library: Callable[[], Awaitable[Library]]) -> Provider:
    if name in PROVIDERS:
        return await asyncio.to_thread(PROVIDERS[name].make, settings)  # certificates may be read
    from spadework.tools.search.library import LibrarySearch  # opens with an index that most runs on the web do not need

    return LibrarySearch(await open_library())
