"""A connection to an SQLite file from an event loop, and its end, also when who wanted it is
cancelled.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiosqlite

#: How long a statement waits for another connection's write.
BUSY_SECONDS = 20.0


async def connected(path: Path) -> aiosqlite.Connection:
    """A connection. Who is cancelled meanwhile waits for it and closes it: its thread answers to an
    event loop that must still be there.
    """

    async def connect() -> aiosqlite.Connection:
        return await aiosqlite.connect(path, timeout=BUSY_SECONDS)

    connecting = asyncio.create_task(connect())
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await asyncio.wait({connecting})
        if not connecting.cancelled() and not connecting.exception():
            await stopped(connecting.result())
        raise


async def stopped(db: aiosqlite.Connection) -> None:
    """End the thread of a connection, which would keep the process from ending, whatever it is
    doing.
    """
    ended = db.stop()
    if ended is not None:
        await asyncio.wait({ended}, timeout=BUSY_SECONDS)
