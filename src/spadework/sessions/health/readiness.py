"""Readiness of a server: it can write, its database responds, it is not stopping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from spadework.backend import backend_of
from spadework.sessions import admission
from spadework.sessions.health.machine_check import home
from spadework.sessions.quotas import STOPPING
from spadework.settings import Settings

#: Seconds a finding is valid, so that frequent requests cause no more checks.
FRESH_SECONDS = 2.0
#: How the home is named, since its path is private.
_HOME = "the home"


class Readiness:
    """The readiness of a server or worker; `stopping` returns whether it accepts nothing new."""

    def __init__(
        self, settings: Settings, stopping: Callable[[], bool] = lambda: admission.here().closed
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._trying: asyncio.Task[str] | None = None
        self._since = 0.0

    async def fault(self) -> str:
        """Return why no question is accepted, in one sentence; "" if it is."""
        if self._stopping():
            return STOPPING
        trying = self._trying
        stale = time.monotonic() - self._since > FRESH_SECONDS
        if trying is None or (trying.done() and stale):
            self._trying = trying = asyncio.create_task(self._try())
            self._since = time.monotonic()
        return await asyncio.shield(trying)

    async def _try(self) -> str:
        """Return the home's fault, else the database's."""
        found, away = await asyncio.gather(
            home(self._settings, _HOME), backend_of(self._settings).database_fault(self._settings)
        )
        said = next((check.text for check in found if not check.works), away)
        return said[:1].upper() + said[1:]
