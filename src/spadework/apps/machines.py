"""Fetch sessions from other machines before a command looks them up."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.apps.options import settings_from
from spadework.backend import shared_backend

if TYPE_CHECKING:
    from pydantic import SecretStr

#: The variable that sets `database_url`. Without it, these commands load no settings.
VARIABLE = "SPADEWORK_DATABASE_URL"


def database_of(home: Path | None) -> SecretStr | None:
    """Return the database address, or None. Raises SettingsError."""
    if VARIABLE not in os.environ:
        return None
    url: SecretStr | None = settings_from(home=home).database_url
    return url


def bring_session(home: Path, session_id: str) -> None:
    """Fetch a session from the workers' database. Raises SettingsError, DiskFailed."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().find(settings_from(home=home), session_id))


def bring_recording(home: Path, session_id: str) -> None:
    """Fetch what a replay needs of a session that workers ran."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().bring_recording(settings_from(home=home), session_id))


def bring_list(home: Path) -> None:
    """Fetch the list of all machines' sessions, if a database is set."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().know_all(settings_from(home=home), None))


def forget_session(home: Path, session_id: str) -> None:
    """Delete a session from the workers' database, if one is set."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().forget(settings_from(home=home), session_id))
