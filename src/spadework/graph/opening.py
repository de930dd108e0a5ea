"""Opening what a session works with; each is closed again where a later step fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from spadework.budget import Budget
from spadework.deadline import WRITE_NOW
from spadework.graph.choosing_means import Means, chosen_again, chosen_now, open_means
from spadework.graph.opening_record import PagesAlone, Replay
from spadework.graph.page_cache import PageCache
from spadework.settings import Settings
from spadework.tools.dense.meaning import Meaning, meaning_of
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.knowledge import knowledge_of
from spadework.tools.library.library import Library
from spadework.tools.stores.journal import Journal
from spadework.tools.stores.private_files import private_folder


class Parts(NamedTuple):
    """What was opened. `cleanings` is how often pages were cleaned in the session before."""

    journal: Journal
    means: Means
    web: Web
    browser: Browser
    libraries: list[Library]
    page_cache: PageCache
    cleanings: int


async def open_parts(
    folder: Path,
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    progress: Callable[[str], None] | None,
    providers: Sequence[Any] | Replay | PagesAlone,
) -> Parts:
    """Open the journal of a folder, choose the providers and the model, and open them."""
    replay = providers if isinstance(providers, Replay) else None
    libraries: list[Library] = []
    await asyncio.to_thread(private_folder, folder / "pages")
    # Each is closed again where a later step fails, or who opens is cancelled.
    async with AsyncExitStack() as opened:
        meaning = None if replay else meaning_of(settings)
        if meaning:
            opened.push_async_callback(meaning.close)
        journal = await _journal(folder, settings, budget, replay, meaning)
        opened.push_async_callback(journal.close)

        async def open_library() -> Library:
            one = await Library.open(
                settings.library, home=settings.common, progress=progress, meaning=meaning
            )
            opened.callback(one.close)
            libraries.append(one)
            return one

        if isinstance(providers, Replay):
            choosing = chosen_again(settings, journal)
        else:
            begun = await journal.noted("opened", "", before=True)
            late = not begun and budget.under(WRITE_NOW)
            choosing = chosen_now(settings, budget, stop, open_library, providers, late=late)
        means = await open_means(await choosing, settings, budget, journal, replay, opened)
        cleanings = await journal.count("clean")
        store = None if replay else knowledge_of(settings, meaning)
        web = await opened.enter_async_context(Web(settings))
        browser = Browser(settings)
        opened.pop_all()
    page_cache = PageCache(store, settings, budget.until_closing, meaning)
    return Parts(journal, means, web, browser, libraries, page_cache, cleanings)


async def _journal(
    folder: Path, settings: Settings, budget: Budget, replay: Replay | None, meaning: Meaning | None
) -> Journal:
    """The journal of a folder, to which what is embedded is charged."""
    journal = await Journal.open(
        folder / "session.sqlite",
        budget,
        recording=replay.recording if replay else None,
        most_bytes=settings.raw_mb * 1e6,
    )
    if meaning:
        meaning.embeds.spend = lambda calls, tokens: journal.paid(
            embedding_calls=calls, embedding_tokens=tokens
        )
    return journal
