"""Access to the settings' database, and owners of sessions in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from spadework.errors import DiskFailed, SettingsError
from spadework.extras import how_to_install
from spadework.settings import Settings
from spadework.tools.stores.disk_faults import DatabaseDown

if TYPE_CHECKING:
    from spadework.machines.postgres.session_rows import SharedSessions


_EXTRA = ("alembic", "langgraph.checkpoint.postgres", "procrastinate", "psycopg", "psycopg_pool")


@asynccontextmanager
async def shared_sessions(settings: Settings) -> AsyncIterator[SharedSessions]:
    """Open the sessions in the settings' database. Raises SettingsError, DiskFailed if it is
    down.
    """
    if settings.database_url is None:
        raise SettingsError(
            "No database is named.",
            hint="Set SPADEWORK_DATABASE_URL=postgresql://user:password@host/name.",
        )
    check_installed()
    from spadework.machines.postgres.database import opened
    from spadework.machines.postgres.session_rows import SharedSessions

    try:
        async with opened(settings.database_url) as database:
            yield SharedSessions(database)
    except DatabaseDown as error:
        raise DiskFailed(f"Nothing is known of sessions now: {error.strerror}.") from None


def check_installed() -> None:
    """Check that the database's packages are installed. Raises SettingsError."""
    if not all(_is_installed(name) for name in _EXTRA):
        raise SettingsError(
            "SPADEWORK_DATABASE_URL needs the packages of an extra.",
            hint=f"Install it: {how_to_install('postgres')}.",
        )


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[None]:
    """Keep a server's database connections open, if one is set. Raises SettingsError."""
    async with shared_sessions(settings):
        yield


def home_of(owner: str, settings: Settings) -> Path:
    """Return an owner's home on this machine. Raises SettingsError for a path that leads
    elsewhere.
    """
    parts = PurePosixPath(owner).parts
    if ".." in parts or PurePosixPath(owner).is_absolute():
        raise SettingsError(f"The database names an owner that cannot be: {owner[:80]!r}.")
    return settings.common.joinpath(*parts)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
