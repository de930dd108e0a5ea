"""The interface to what several machines share.

A database's backend is loaded by name with the first settings that have one; the core imports
nothing of it.
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

#: Default maximum of sessions listed.
MOST_LISTED = 200
_NONE = "Without a database there are no other machines."


class Backend(Protocol):
    """What a session, a server and a command need from other machines. The default methods are the
    answers of a single machine.
    """

    async def find(self, settings: Settings, session_id: str) -> bool:
        """Bring a workers' session here; return whether it is live. Raises SettingsError,
        DiskFailed.
        """
        return False

    async def know_all(self, settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
        """Bring the list of sessions here; return the ids of those waiting or running."""
        return frozenset()

    async def bring_recording(self, settings: Settings, session_id: str) -> None:
        """Bring the journal of a finished workers' session here."""
        return

    async def forget(self, settings: Settings, session_id: str) -> None:
        """Delete a session that workers know."""
        return

    async def note_answer(self, settings: Settings, known: str, session_id: str) -> bool:
        """Record which session gave an answer, by its hash; return whether workers know it."""
        return False

    async def answered_by(self, settings: Settings, known: str) -> str:
        """Return the session that gave an answer, by its hash; "" if unknown."""
        return ""

    async def database_fault(self, settings: Settings) -> str:
        """Return why nothing can be stored now, without naming a place; "" if it can."""
        return ""

    async def database(self, settings: Settings) -> list[Any]:
        """Return the health checks of the database as `Check` objects."""
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
        told: Callable[[str], None] | None,
    ) -> AsyncGenerator[Event, None]:
        """Submit a `Session` and watch it."""
        raise LookupError(_NONE)

    async def cancel(self, session: Any) -> bool:
        """Cancel a `Session` that workers run; return False if it runs here."""
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
    """Return the backend of the settings' database, else a single machine's."""
    return _ALONE if settings.database_url is None else shared_backend()


def shared_backend() -> Backend:
    """Return the backend of a database; missing packages show when it is used."""
    return cast("Backend", import_module("spadework.machines.backend"))
