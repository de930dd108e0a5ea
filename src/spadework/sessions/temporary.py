"""A context without a session: its folder goes with it, nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from spadework.budget import Budget
from spadework.graph.opening_record import PagesAlone
from spadework.graph.session_context import SessionContext
from spadework.graph.session_id import new_session_id
from spadework.settings import Settings


@asynccontextmanager
async def temporary_context(
    settings: Settings, budget: Budget, tell: Callable[[str], None], alone: PagesAlone | None = None
) -> AsyncGenerator[SessionContext, None]:
    """A context `alone` for pages, or for a whole run. `tell` is told what takes long."""
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="spadework-")
    try:
        context = await SessionContext.open(
            Path(folder.name) / new_session_id(),
            settings,
            budget,
            progress=tell,
            providers=alone or (),
        )
        try:
            yield context
        finally:
            await context.close()
    finally:
        await asyncio.to_thread(folder.cleanup)
