"""`doctor`: what works on this machine, in plain words."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shutil
from collections.abc import Awaitable, Callable

import typer

from spadework.errors import SpadeworkError
from spadework.graph.models import default_model
from spadework.settings import Settings
from spadework.tools.library import Library
from spadework.tools.search.choose import choose

Check = Callable[[Settings], Awaitable[str]]


async def _python(settings: Settings) -> str:
    return f"Python {platform.python_version()} on {platform.system()}"


async def _home(settings: Settings) -> str:
    await asyncio.to_thread(settings.home.mkdir, parents=True, exist_ok=True)
    if not os.access(settings.home, os.W_OK):
        raise SpadeworkError(f"{settings.home} cannot be written.", hint="Choose another with --home or SPADEWORK_HOME.")
    return f"sessions and indexes in {settings.home}"


async def _model(settings: Settings) -> str:
    name = await default_model(settings)
    return (
        f"language model {name}" if name else "no language model: the extractive roles do the work (set OPENAI_API_KEY, or OPENAI_BASE_URL)"
    )


async def _search(settings: Settings) -> str:
    async def open_library() -> Library:
        return await Library.open(settings.library, home=settings.home, progress=lambda text: typer.echo(f"      {text}", err=True))

    choice = await choose(settings, open_library)
    return "; ".join([f"searching {provider.describes}" for provider in choice.providers] + list(choice.notices))


async def _browser(settings: Settings) -> str:
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
    driver = importlib.util.find_spec("playwright") is not None
    if found and driver:
        return f"browser {found}"
    return "no browser: script-rendered pages cannot be read (install the extra `browser` and Chromium)"


CHECKS: tuple[Check, ...] = (_python, _home, _model, _search, _browser)


def examine(settings: Settings) -> int:
    """Print a line a check. 0 when all work, 1 when something configured does not."""
    return asyncio.run(_examine(settings))


async def _examine(settings: Settings) -> int:
    failed = 0
    for check in CHECKS:
        try:
            typer.echo(f"ok    {await check(settings)}")
        except SpadeworkError as error:
            failed = 1
            typer.echo(f"wrong {error} {error.hint}".rstrip())
    return failed
