"""Where a session runs: here, once admitted, or on workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar

from spadework.backend import backend_of
from spadework.budget import Budget
from spadework.sessions import quotas
from spadework.sessions.brief import Brief
from spadework.sessions.metrics.run_history import reserve
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import claim_on

#: Whether this runs within a session: a nested one must not wait for its end.
_inside: ContextVar[bool] = ContextVar("inside", default=False)


@asynccontextmanager
async def admitted(
    session_id: str,
    brief: Brief,
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    progress: Callable[[str], None] | None,
) -> AsyncIterator[None]:
    """Run in the context once admitted, with the clock stopped while waiting, and with shared
    limits.
    """
    replayed = budget.replayed is not None
    backend = backend_of(settings)
    sharing = nullcontext() if replayed else backend.limits_shared(settings, session_id)
    if _inside.get() or brief.kind == "read":  # a single page does not wait for research
        async with sharing:
            yield
        return
    budget.reserve = await on_disk(reserve, settings.home)
    budget.pause()
    async with quotas.place(settings, stop, progress), sharing:
        budget.go_on()
        _inside.set(True)
        yield


def by_workers(session_id: str, brief: Brief, settings: Settings) -> bool:
    """Return whether workers run a session: not one that runs on a worker now, nor a nested one."""
    wanted = settings.database_url is not None and brief.kind == "research"
    return wanted and not _inside.get() and claim_on(session_id) is None
