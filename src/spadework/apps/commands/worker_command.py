"""`worker`: a process that runs sessions for all machines."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Annotated, Any

import typer

from spadework.apps import options


def worker(
    context: typer.Context,
    sessions: Annotated[
        int | None,
        typer.Option(
            "--sessions", help="Most sessions at once (default: the setting parallel_sessions)."
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", help="Port for /healthz, /readyz and /metrics; 0 for any. Unset: none."
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="With --port: its address. Elsewhere than here a token is asked."
        ),
    ] = "127.0.0.1",
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Run sessions that other processes submit.

    They wait in the database at SPADEWORK_DATABASE_URL. After SIGTERM, runs may continue for a
    while; Ctrl-C stops at once. Start any number, on any machine.
    """
    asyncio.run(_work(options.settings_of(context, parallel_sessions=sessions), host, port))


async def _work(settings: Any, host: str, port: int | None) -> None:
    from spadework.apps.commands.worker_numbers import serve_numbers
    from spadework.apps.messages import log_to_stderr, say
    from spadework.machines.worker import work

    def ready(told: str) -> None:
        say(f"spadework worker {told}  (Ctrl-C stops it)", err=True)

    def leave() -> None:
        if told.is_set():
            working.cancel()
        else:
            told.set()

    log_to_stderr()
    told = asyncio.Event()
    async with serve_numbers(settings, host, port, told.is_set):
        working = asyncio.create_task(work(settings, settings.parallel_sessions, ready, told))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, leave)
        loop.add_signal_handler(signal.SIGINT, working.cancel)
        with suppress(asyncio.CancelledError):
            await working
