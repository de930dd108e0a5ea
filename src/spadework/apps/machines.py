"""Sessions of other machines, for the commands: brought here before a command looks for them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.apps.options import settings_from

if TYPE_CHECKING:
    from pydantic import SecretStr

#: The variable of the setting `database_url`. Without it no settings are loaded here: they are
#: nothing to a command that needs none.
VARIABLE = "SPADEWORK_DATABASE_URL"


def database_of(home: Path | None) -> SecretStr | None:
    """The address of the database, where one is named. Raises SettingsError."""
    if VARIABLE not in os.environ:
        return None
    url: SecretStr | None = settings_from(home=home).database_url
    return url


def bring_session(home: Path, session_id: str) -> None:
    """Have a session here that workers know. Raises SettingsError, DiskFailed."""
    if VARIABLE in os.environ:
        from spadework.sessions.machines.session_lookup import find

        asyncio.run(find(settings_from(home=home), session_id))


def bring_recording(home: Path, session_id: str) -> None:
    """Have a session here with what a replay needs of it, where workers have run it."""
    if VARIABLE in os.environ:
        from spadework.sessions.machines.session_lookup import bring_recording

        asyncio.run(bring_recording(settings_from(home=home), session_id))


def bring_list(home: Path) -> None:
    """Know the sessions of all machines here, where the settings name a database."""
    if VARIABLE in os.environ:
        from spadework.sessions.machines.session_lookup import know_all

        asyncio.run(know_all(settings_from(home=home), None))


def forget_session(home: Path, session_id: str) -> None:
    """Delete a session where workers know it, where the settings name a database."""
    if VARIABLE in os.environ:
        from spadework.sessions.machines.session_lookup import forget

        asyncio.run(forget(settings_from(home=home), session_id))
