"""Sessions of other machines, for the commands: brought here before a command looks for them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from spadework.apps.given_settings import settings_from


def bring_session(home: Path, session_id: str) -> None:
    """Have a session here that workers know, where the settings name a database. Raises
    SettingsError, DiskFailed.
    """
    settings = settings_from(home=home)
    if settings.database_url:
        from spadework.sessions.machines.finding import find

        asyncio.run(find(settings, session_id))


def bring_list(home: Path) -> None:
    """Know the sessions of all machines here, where the settings name a database."""
    settings = settings_from(home=home)
    if settings.database_url:
        from spadework.sessions.machines.finding import know_all

        asyncio.run(know_all(settings))


def forget_session(home: Path, session_id: str) -> None:
    """Delete a session where workers know it, where the settings name a database."""
    settings = settings_from(home=home)
    if settings.database_url:
        from spadework.sessions.machines.finding import forget

        asyncio.run(forget(settings, session_id))
