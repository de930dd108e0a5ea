"""Where the state of a run is saved: the session's SQLite file, in which only our own values come back as objects."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from spadework import values
from spadework.graph import state

#: Seconds that a checkpoint waits for the journal, which writes to the same file.
BUSY_SECONDS = 20.0


@asynccontextmanager
async def checkpoints(folder: Path) -> AsyncGenerator[AsyncSqliteSaver, None]:
    """The checkpoints of the session in `folder`."""
    async with aiosqlite.connect(folder / "session.sqlite", timeout=BUSY_SECONDS) as db:
        yield AsyncSqliteSaver(db, serde=JsonPlusSerializer(allowed_msgpack_modules=_values()))


def _values() -> list[tuple[str, str]]:
    """The classes of the values that stand in the state, by module and name."""
    found = [kind for module in (values, state) for kind in vars(module).values() if isinstance(kind, type)]
    return sorted({(kind.__module__, kind.__name__) for kind in found if issubclass(kind, values.Value)})
