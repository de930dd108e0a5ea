"""Whether search works: each provider is asked once, and one page found is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from spadework.errors import SearchError
from spadework.sessions.health.check import Check, attempt, run_check
from spadework.sessions.health.nearby import searxng_servers
from spadework.sessions.health.page_check import check_fetching
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.search.dispatch.failover import Manners, Search
from spadework.tools.search.dispatch.provider_choice import (
    LIBRARY,
    PROVIDERS,
    names_of,
    providers_named,
)
from spadework.tools.search.provider import Closing, Provider
from spadework.values import Hit, Query

#: Every search engine and paper archive has results for it.
QUERY = "water"
#: Enough hits for several sites.
HITS = 10
_WEB = ("http://", "https://")
_OFFLINE = "Set SEARXNG_URL or the key of a search service, or see whether this machine is online."


async def check_search(settings: Settings) -> list[Check]:
    """Return a check of each provider, and one of fetching a found page."""
    loop = asyncio.get_running_loop()
    until = loop.time() + settings.health_seconds
    names = await attempt("What is searched", names_of(settings), settings.health_seconds)
    if isinstance(names, Check):
        return [names]
    hints = asyncio.create_task(_nearby(settings, names))
    asked = [asyncio.create_task(_ask_provider(name, settings, until)) for name in names]
    page = asyncio.create_task(_page(asked, settings, until))
    done = await asyncio.gather(*asked)
    checks = [check for found, _ in done for check in found]
    fetched = await page
    tried = [] if names == [LIBRARY] else [fetched]
    return [*_offline(settings, names), *checks, *tried, *await hints]


def _offline(settings: Settings, names: Sequence[str]) -> list[Check]:
    if names != [LIBRARY] or settings.library or LIBRARY in settings.search.lower():
        return []
    text = "The web cannot be reached, and no search service is set; the library is searched alone."
    return [Check(state="hint", text=text, hint=_OFFLINE)]


async def _nearby(settings: Settings, names: Sequence[str]) -> list[Check]:
    alone = settings.searxng_url or "searxng" in names
    return [] if alone else await searxng_servers(settings.health_seconds)


async def _ask_provider(
    name: str, settings: Settings, until: float
) -> tuple[list[Check], list[Hit]]:
    """Return the checks of a provider name, and the web pages found."""
    if name == LIBRARY:
        trying = _library(settings)
        mend = "It is large, or its disk is slow: run `spadework index` first."
        return [await run_check("The library", trying, _seconds_left(until), mend)], []
    making = providers_named(name, settings, _no_library)
    made = await attempt(name, making, _seconds_left(until))
    if isinstance(made, Check):
        return [made], []
    hits: list[Hit] = []
    checks = await asyncio.gather(*(_provider(one, settings, until, hits) for one in made))
    return checks, hits


async def _provider(provider: Provider, settings: Settings, until: float, hits: list[Hit]) -> Check:
    seconds = _seconds_left(until)
    search = Search((provider,), Manners(limits=settings.search_limits, asks=1))

    async def asks() -> str | Check:
        # The provider's own timeout must be longer than ours.
        found = await search.ask(provider, Query(text=QUERY), limit=HITS, seconds=seconds + 1)
        if not found:
            # A true result of an engine with little content, or without engines.
            text = f"{provider.name} answers, and finds nothing for “{QUERY}”"
            return Check(state="hint", text=text, hint=_mend(provider))
        hits.extend(hit for hit in found if hit.url.startswith(_WEB))
        return f"searching {provider.describes}: it answers"

    try:
        found = await run_check(provider.name, asks(), seconds, _mend(provider))
        # Mention the key only once.
        named = "check " in found.text
        return found.model_copy(update={"hint": ""}) if named else found
    finally:
        if isinstance(provider, Closing):
            await provider.close()


def _mend(provider: Provider) -> str:
    if provider.name == "searxng":
        return "Look whether the server at SEARXNG_URL runs, and which of its engines answer."
    variable = PROVIDERS[provider.name].variable if provider.name in PROVIDERS else ""
    if variable:
        return f"Check {variable}, and what its account may still ask."
    return "Set another provider with --search, or try again later."


async def _page(
    asked: Sequence[asyncio.Task[tuple[list[Check], list[Hit]]]], settings: Settings, until: float
) -> Check:
    """Return whether a page can be fetched from the first provider with hits."""
    hits: list[Hit] = []
    for done in asyncio.as_completed(asked):
        _, hits = await done
        if hits:
            break
    return await run_check(
        "The page", check_fetching(hits, settings, _seconds_left(until)), _seconds_left(until) + 0.5
    )


async def _library(settings: Settings) -> str:
    words, library = await Library.open_built(settings.library, home=settings.common)
    if library is None:
        return f"searching {words}: its index is made or brought up to date by the first run"
    described = library.describe
    library.close()
    return f"searching {described}"


async def _no_library() -> Any:
    raise SearchError("The library is not opened here.")


def _seconds_left(until: float) -> float:
    return max(0.0, until - asyncio.get_running_loop().time())
