"""`doctor`: what works on this machine, in plain words."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from spadework.apps.saying import say
from spadework.errors import SpadeworkError
from spadework.graph.models import default_model
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser, chosen
from spadework.tools.knowledge import knowledge_of
from spadework.tools.library import Library
from spadework.tools.private import make_folder
from spadework.tools.search.choose import choose

Check = Callable[[Settings], Awaitable[str]]


@dataclass(frozen=True)
class Finding:
    """What a check found: a sentence, whether it works, and what would mend it."""

    works: bool
    text: str
    hint: str = ""


async def _python(settings: Settings) -> str:
    return f"Python {platform.python_version()} on {platform.system()}"


async def _home(settings: Settings) -> str:
    await asyncio.to_thread(make_folder, settings.home)
    if not os.access(settings.home, os.W_OK):
        raise SpadeworkError(
            f"{settings.home} cannot be written.",
            hint="Choose another with --home or SPADEWORK_HOME.",
        )
    return f"sessions and indexes in {settings.home}"


async def _model(settings: Settings) -> str:
    name = await default_model(settings)
    return (
        f"language model {name}"
        if name
        else (
            "no language model: the extractive roles do the work (set OPENAI_API_KEY, or"
            " OPENAI_BASE_URL)"
        )
    )


async def _search(settings: Settings) -> str:
    opened: list[Library] = []

    async def open_library() -> Library:
        opened.append(
            await Library.open(
                settings.library,
                home=settings.home,
                progress=lambda text: say(f"      {text}", err=True),
            )
        )
        return opened[0]

    choice = await choose(settings, open_library)
    for library in opened:
        library.close()
    return "; ".join(
        [f"searching {provider.describes}" for provider in choice.providers] + list(choice.notices)
    )


async def _knowledge(settings: Settings) -> str:
    store = knowledge_of(settings)
    if store is None:
        return "no knowledge store is used (SPADEWORK_KNOWLEDGE)"
    try:
        count = await store.count()
    finally:
        await store.close()
    return f"{count:,} {'page' if count == 1 else 'pages'} in {store.describes}"


async def _browser(settings: Settings) -> str:
    if missing := Browser(settings).missing:
        return f"no browser, so pages made by scripts cannot be read: {missing}"
    quick, whole = chosen(settings, 2), chosen(settings, 3)
    return f"browser {quick}" + (f", and {whole} at level 3" if quick != whole else "")


CHECKS: tuple[Check, ...] = (_python, _home, _model, _search, _knowledge, _browser)


def examine(settings: Settings) -> int:
    """Print a line a check. 0 when all work, 1 when something configured does not."""
    found = asyncio.run(findings(settings))
    for finding in found:
        say(f"{'ok   ' if finding.works else 'wrong'} {finding.text} {finding.hint}".rstrip())
    return 0 if all(finding.works for finding in found) else 1


async def findings(settings: Settings) -> list[Finding]:
    """What each check found. Where the library is searched, its index is brought up to date first,
    which can take a while.
    """
    return [await _finding(check, settings) for check in CHECKS]


async def _finding(check: Check, settings: Settings) -> Finding:
    try:
        return Finding(True, await check(settings))
    except SpadeworkError as error:
        return Finding(False, str(error), error.hint)
