"""The interface to state shared by several machines. The database backend is imported only if the
settings name a database.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from spadework.events import Event
    from spadework.settings import Settings

MOST_LISTED = 200
_NONE = "Sharing work with other machines requires a database."


class Backend(Protocol):
    """Operations involving other machines. The default implementations assume a single machine."""

    async def find(self, settings: Settings, session_id: str) -> bool:
        """Copy a session from the workers' database to this machine, and return whether it is still
        waiting or running. If it is, only its metadata is copied. Raises SettingsError or
        DiskFailed.
        """
        return False

    async def know_all(self, settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
        """Copy the session list to this machine. Return the ids of unfinished sessions."""
        return frozenset()

    async def bring_recording(self, settings: Settings, session_id: str) -> None:
        """Copy a finished session's journal to this machine."""
        return

    async def forget(self, settings: Settings, session_id: str) -> None:
        """Delete a session from the workers' database."""
        return

    async def note_answer(self, settings: Settings, known: str, session_id: str) -> bool:
        """Record which session gave the answer with the hash `known`. Return whether the database
        has that session.
        """
        return False

    async def answered_by(self, settings: Settings, known: str) -> str:
        """Return the id of the session that gave the answer with the hash `known`, or ""."""
        return ""

    async def database_fault(self, settings: Settings) -> str:
        """Return why the database cannot be used, without naming hosts, or "" if it can."""
        return ""

    async def database(self, settings: Settings) -> list[Any]:
        """Return the database health checks (`Check`)."""
        return []

    def connected(self, settings: Settings) -> AbstractAsyncContextManager[None]:
        """Keep database connections open inside the context. Raises SettingsError."""
        return nullcontext()

    def limits_shared(
        self, settings: Settings, session_id: str
    ) -> AbstractAsyncContextManager[None]:
        """Return a context manager that shares host, model and provider limits between machines."""
        return nullcontext()

    def run_by_workers(
        self,
        session: Any,
        stop: asyncio.Event,
        answers: asyncio.Queue[str],
        notify: Callable[[str], None] | None,
    ) -> AsyncGenerator[Event, None]:
        """Submit a `Session` to the workers and yield its events."""
        raise LookupError(_NONE)

    async def cancel(self, session: Any) -> bool:
        """Cancel a `Session`. Return False if no worker is running it."""
        return False

    async def list_news(
        self, settings: Settings, known: Mapping[str, int]
    ) -> dict[str, tuple[int, str]]:
        """Return the lists in the database, such as the users' tokens, that are newer than the
        versions in `known`. Map each name to the version and the rows as JSON.
        """
        return {}

    def list_table(self, url: str, name: str, rows: Any, before: Path) -> Any:
        """Return the database's list `name`. `before` is the file used if there is no database."""
        raise LookupError(_NONE)

    def day_limit(self, settings: Settings) -> Any:
        """Return a user's `DayLimit`."""
        raise LookupError(_NONE)

    def checkpoints(self, claim: Any, record: Any) -> Any:
        """Return the checkpoint saver for a session that a worker has claimed."""
        raise LookupError(_NONE)

    def knowledge(self, settings: Settings, most_bytes: int) -> Any:
        """Return the store of pages that a user's runs have read (`Knowledge`)."""
        raise LookupError(_NONE)


class _Alone(Backend):
    """The backend of a single machine, which shares nothing."""


_ALONE = _Alone()


def backend_of(settings: Settings) -> Backend:
    """Return the database backend, or the single-machine one if there is no database."""
    return _ALONE if settings.database_url is None else shared_backend()


def shared_backend() -> Backend:
    """Return the database backend. If its package is missing, errors are raised only on use."""
    return cast("Backend", import_module("spadework.machines.backend"))
