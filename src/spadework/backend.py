"""The interface to what several machines share.
The backend of a database is imported by name, once the settings have one.
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
_NONE = "Other machines need a database."


class Backend(Protocol):
    """What a session, a server and a command need of other machines.
    The default methods answer for a single machine.
    """

    async def find(self, settings: Settings, session_id: str) -> bool:
        """Copy a workers' session to this machine; return whether it is live.
        Raises SettingsError, DiskFailed.
        """
        return False

    async def know_all(self, settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
        """Copy the list of sessions to this machine; return the ids of those that wait or run."""
        return frozenset()

    async def bring_recording(self, settings: Settings, session_id: str) -> None:
        """Copy the journal of a finished session to this machine."""
        return

    async def forget(self, settings: Settings, session_id: str) -> None:
        """Delete a session that workers know."""
        return

    async def note_answer(self, settings: Settings, known: str, session_id: str) -> bool:
        """Record which session gave an answer, by its hash; return whether workers know it."""
        return False

    async def answered_by(self, settings: Settings, known: str) -> str:
        """Return the session that gave an answer, by its hash, or ""."""
        return ""

    async def database_fault(self, settings: Settings) -> str:
        """Say why nothing can be stored now, without naming a place; "" if it can."""
        return ""

    async def database(self, settings: Settings) -> list[Any]:
        """Return the health checks of the database (`Check`)."""
        return []

    def connected(self, settings: Settings) -> AbstractAsyncContextManager[None]:
        """Keep a server's connections open. Raises SettingsError."""
        return nullcontext()

    def limits_shared(
        self, settings: Settings, session_id: str
    ) -> AbstractAsyncContextManager[None]:
        """Share the limits of hosts, models and providers while a session runs."""
        return nullcontext()

    def run_by_workers(
        self,
        session: Any,
        stop: asyncio.Event,
        answers: asyncio.Queue[str],
        notify: Callable[[str], None] | None,
    ) -> AsyncGenerator[Event, None]:
        """Submit a `Session` and watch it."""
        raise LookupError(_NONE)

    async def cancel(self, session: Any) -> bool:
        """Cancel a `Session` that workers run; return False if it runs in this process."""
        return False

    async def list_news(
        self, settings: Settings, known: Mapping[str, int]
    ) -> dict[str, tuple[int, str]]:
        """Return the lists that changed since the `known` versions."""
        return {}

    def list_table(self, url: str, name: str, rows: Any, before: Path) -> Any:
        """Return a `KeptList` by name."""
        raise LookupError(_NONE)

    def day_limit(self, settings: Settings) -> Any:
        """Return the `DayLimit` of a user."""
        raise LookupError(_NONE)

    def checkpoints(self, claim: Any, record: Any) -> Any:
        """Return the saver of a session's checkpoints under a `Claim`."""
        raise LookupError(_NONE)

    def knowledge(self, settings: Settings, most_bytes: int) -> Any:
        """Return the `Knowledge` store of a user."""
        raise LookupError(_NONE)


class _Alone(Backend):
    """A single machine: nothing is shared."""


_ALONE = _Alone()


def backend_of(settings: Settings) -> Backend:
    """Return the backend of the settings' database, else that of a single machine."""
    return _ALONE if settings.database_url is None else shared_backend()


def shared_backend() -> Backend:
    """Return the backend of a database; a missing package shows when it is used."""
    return cast("Backend", import_module("spadework.machines.backend"))
