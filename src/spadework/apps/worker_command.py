"""`spadework worker`: one process of those that run the sessions of all machines."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Annotated, Any

import typer

from spadework.apps.given_settings import settings_from
from spadework.apps.options import Home, Libraries, Model, Search


def worker(
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions", help="Most sessions at once (default: the setting parallel_sessions)."
        ),
    ] = None,
    search: Search = None,
    library: Libraries = None,
    model: Model = None,
    home: Home = None,
) -> None:
    """Run the sessions that other processes submit.

    They wait in the database that SPADEWORK_DATABASE_URL names. It works until Ctrl-C; start as
    many as you like, on any machine.
    """
    settings = settings_from(
        home=home,
        search=search,
        library=tuple(library) if library else None,
        model=model,
        parallel_sessions=sessions,
    )
    asyncio.run(_work(settings))


async def _work(settings: Any) -> None:
    from spadework.apps.saying import log_to_stderr, say
    from spadework.sessions.machines.working import work

    def ready(told: str) -> None:
        say(f"spadework worker {told}  (Ctrl-C stops it)", err=True)

    log_to_stderr()
    working = asyncio.create_task(work(settings, settings.parallel_sessions, ready))
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, working.cancel)
    with suppress(asyncio.CancelledError):
        await working
