"""Check the health of models, search, fetching and the browser."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from spadework.agents.llm.examination import result_at
from spadework.agents.llm.probe import default_model, every_place, greet
from spadework.agents.llm.providers import Place
from spadework.errors import FetchError, SearchError
from spadework.sessions.health.check import (
    HEALTH_SECONDS,
    Check,
    attempt,
    model_servers,
    run_check,
    searxng_servers,
)
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser, choose_browser
from spadework.tools.fetch.client import Web
from spadework.tools.library.library import Library
from spadework.tools.search.failover import Manners, Search
from spadework.tools.search.provider import Closing, Provider
from spadework.tools.search.provider_choice import LIBRARY, PROVIDERS, names_of, providers_named
from spadework.tools.web.urls import host_of
from spadework.values import Hit, Query

#: Minimum seconds to check each model, even after slow imports.
LEAST_SECONDS = 2.0
NONE = "no language model is set, so reports are composed from quotes"
_SET_ONE = "Set OPENAI_API_KEY, or set OPENAI_BASE_URL to use your own server."
_LATE = "The server may be busy or loading its model. Try again, or set another with --model."


async def models(settings: Settings) -> list[Check]:
    """Check each model in use. If there is none, return hints for using local model servers."""
    loop = asyncio.get_running_loop()
    until = loop.time() + HEALTH_SECONDS
    default = await attempt("The model server", default_model(settings), HEALTH_SECONDS, _LATE)
    if isinstance(default, Check):
        return [default]
    places = [place for place in every_place(settings, default) if place.name]
    if not places:
        servers = await model_servers(max(0.0, until - loop.time()))
        return [Check(state="works", text=NONE, hint="" if servers else _SET_ONE), *servers]
    # Import the client before computing `left`, because the first import is slow.
    await asyncio.to_thread(import_module, "langchain_openai")
    left = max(min(HEALTH_SECONDS, LEAST_SECONDS), until - loop.time())
    return await asyncio.gather(
        *(
            run_check(place.label, _greet_model(place, settings), left, _mend(place))
            for place in places
        )
    )


async def _greet_model(place: Place, settings: Settings) -> str:
    # The client gets a longer timeout than the check, so that the check times out first.
    patient = settings.model_copy(update={"model_seconds": 2 * HEALTH_SECONDS})
    await greet(place, patient)
    known = await result_at(place, settings.common)
    if known is None:
        return f"language model {place.label} answers"
    how = "passed" if known.passed else "failed"
    then = "it will judge and write reports" if known.passed else "reports are composed from quotes"
    return (
        f"language model {place.label} answers; it {how} its qualification test ({known.right} of"
        f" {known.asked} correct), so {then}"
    )


def _mend(place: Place) -> str:
    if not place.base_url:
        return "Check OPENAI_API_KEY and the internet connection."
    return "Check that the server at OPENAI_BASE_URL is running and has the model."


#: Maximum pages to try. Each comes from a different host, so that one site that blocks all clients
#: does not fail the check.
MOST_TRIED = 3
NOT_TRIED = "no page was fetched because no search found one"
_MEND = "Check whether a firewall or proxy blocks this machine."


async def check_fetching(hits: Sequence[Hit], settings: Settings, seconds: float) -> Check:
    """Check that at least one of the pages in `hits` can be fetched."""
    urls = list({host_of(hit.url): hit.url for hit in reversed(hits)}.values())[::-1][:MOST_TRIED]
    if not urls or seconds <= 0:
        return Check(state="hint", text=NOT_TRIED)
    # Use no cache, because a cached copy would not show that pages can be fetched.
    async with Web(settings.model_copy(update={"cache_mb": 0})) as web:
        answers = await asyncio.gather(*(_fetch_page(web, url, seconds) for url in urls))
    errors = [answer for answer in answers if answer]
    if len(errors) < len(urls):
        return Check(state="works", text="pages can be fetched")
    first = errors[0]
    more = f", and neither could {len(urls) - 1} from other sites" if len(urls) > 1 else ""
    return Check(
        state="broken",
        text=f"A page that a search found could not be fetched{more}: {first}",
        hint=first.hint or _MEND,
    )


async def _fetch_page(web: Web, url: str, seconds: float) -> FetchError | None:
    try:
        await web.fetch(url, seconds=seconds)
    except FetchError as error:
        return error
    return None


async def browser(settings: Settings) -> list[Check]:
    """Check which browser is available."""
    return [await asyncio.to_thread(_browser, settings)]


def _browser(settings: Settings) -> Check:
    if missing := Browser(settings).what_is_missing:
        text = f"no browser for pages that need JavaScript: {missing}"
        return Check(state="broken" if settings.chromium else "hint", text=text)
    return Check(state="works", text=f"browser {choose_browser(settings)}")


#: A query for which almost every search engine and paper archive has hits.
QUERY = "water"
HITS = 10
_WEB = ("http://", "https://")
_OFFLINE = "Set SEARXNG_URL or the key of a search service, or check that this machine is online."


async def check_search(settings: Settings) -> list[Check]:
    """Check each provider, and fetch a page that one of them found."""
    loop = asyncio.get_running_loop()
    until = loop.time() + HEALTH_SECONDS
    names = await attempt("The search setup", names_of(settings), HEALTH_SECONDS)
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
    text = "The web cannot be reached and no search service is set. Only the library is searched."
    return [Check(state="hint", text=text, hint=_OFFLINE)]


async def _nearby(settings: Settings, names: Sequence[str]) -> list[Check]:
    alone = settings.searxng_url or "searxng" in names
    return [] if alone else await searxng_servers(HEALTH_SECONDS)


async def _ask_provider(
    name: str, settings: Settings, until: float
) -> tuple[list[Check], list[Hit]]:
    if name == LIBRARY:
        trying = _library(settings)
        mend = "The library may be large, or its disk slow. Run `spadework index` first."
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
        # The provider gets a longer timeout than the check, so that the check times out first.
        found = await search.ask(provider, Query(text=QUERY), limit=HITS, seconds=seconds + 1)
        if not found:
            # Finding nothing is not an error, because the engine may have only a small index.
            text = f"{provider.name} answers, but found nothing for “{QUERY}”"
            return Check(state="hint", text=text, hint=_mend_search(provider))
        hits.extend(hit for hit in found if hit.url.startswith(_WEB))
        return f"search works: {provider.describes}"

    try:
        found = await run_check(provider.name, asks(), seconds, _mend_search(provider))
        # A text with "check " already says which key to check, so it needs no hint.
        named = "check " in found.text
        return found.model_copy(update={"hint": ""}) if named else found
    finally:
        if isinstance(provider, Closing):
            await provider.close()


def _mend_search(provider: Provider) -> str:
    if provider.name == "searxng":
        return "Check that the server at SEARXNG_URL is running and that its engines answer."
    variable = PROVIDERS[provider.name].variable if provider.name in PROVIDERS else ""
    if variable:
        return f"Check {variable} and the remaining quota of its account."
    return "Choose another provider with --search, or try again later."


async def _page(
    asked: Sequence[asyncio.Task[tuple[list[Check], list[Hit]]]], settings: Settings, until: float
) -> Check:
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
        return f"searching {words}; the first run creates or updates the index"
    described = library.describe
    await library.close()
    return f"searching {described}"


async def _no_library() -> Any:
    raise SearchError("The library is not opened here.")


def _seconds_left(until: float) -> float:
    return max(0.0, until - asyncio.get_running_loop().time())
