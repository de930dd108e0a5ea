"""Whether a server may be sent questions: it can write, its database answers, it is not stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from spadework.sessions import admission
from spadework.sessions.health.database_check import database_fault
from spadework.sessions.health.machine_check import home
from spadework.sessions.quotas import STOPPING
from spadework.settings import Settings

#: How long a finding counts, in seconds: whoever asks more often sets nothing more going.
FRESH_SECONDS = 2.0
#: What is said of the folder in which sessions are kept: its path is nobody's business.
_HOME = "the home"


class Readiness:
    """That of one server, or of a worker; `stopping` says whether it takes nothing new."""

    def __init__(
        self, settings: Settings, stopping: Callable[[], bool] = lambda: admission.here().closed
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._trying: asyncio.Task[str] | None = None
        self._since = 0.0

    async def fault(self) -> str:
        """Why no question may be sent, in one sentence; "" where one may."""
        if self._stopping():
            return STOPPING
        trying = self._trying
        stale = time.monotonic() - self._since > FRESH_SECONDS
        if trying is None or (trying.done() and stale):
            self._trying = trying = asyncio.create_task(self._try())
            self._since = time.monotonic()
        return await asyncio.shield(trying)

    async def _try(self) -> str:
        """The home's fault, else the database's."""
        found, away = await asyncio.gather(
            home(self._settings, _HOME), database_fault(self._settings)
        )
        said = next((check.text for check in found if not check.works), away)
        return said[:1].upper() + said[1:]
