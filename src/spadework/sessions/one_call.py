"""Research in one call, from code that is asynchronous and from code that is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from spadework.budget import Budget
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result

T = TypeVar("T")


async def research(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
) -> Result:
    """The result of researching a question, or of following up the session `follows` (its id).

    `providers` are what is searched with: see `Session.search_with`. Raises SettingsError for
    settings that cannot be used, SessionNotFound for an unknown `follows`.
    """
    session = Session.start(
        question, settings=settings, budget=budget, attachments=attachments, follows=follows
    )
    return await session.search_with(*providers).result()


def research_sync(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
) -> Result:
    """The same for code that is not asynchronous, also where an event loop runs already, as in a
    notebook.

    Ctrl-C cancels the run (the session can be resumed) and raises KeyboardInterrupt.
    """
    return run_to_end(
        lambda: research(
            question,
            settings,
            budget,
            attachments=attachments,
            follows=follows,
            providers=providers,
        )
    )


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `work` gives, run to its end; in a thread where this one has a running loop."""
    if not _loop_runs():
        return asyncio.run(work())
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    loop = runner.get_loop()
    task = loop.create_task(work())

    async def done() -> T:
        return await task

    def run() -> T:
        with runner:
            return runner.run(done())

    with ThreadPoolExecutor(1, thread_name_prefix="spadework") as thread:
        running = thread.submit(run)
        try:
            return running.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
