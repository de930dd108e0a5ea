"""Health of the shared database: it responds, is recent enough, has this version's tables and free
connections, and has workers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from spadework.errors import SettingsError, SpadeworkError
from spadework.machines.shared import check_installed, shared_sessions
from spadework.sessions.health.check import Check, State, attempt
from spadework.settings import Settings

if TYPE_CHECKING:
    from spadework.machines.postgres.inspection import Looked


#: PostgreSQL 13 in its own numbering; and maximum connections per worker.
OLDEST, OF_A_WORKER = 130_000, 14
AWAY = "The database does not answer."
_ADDRESS = "Check SPADEWORK_DATABASE_URL, and that PostgreSQL runs there."


async def database(settings: Settings) -> list[Check]:
    """Return its findings, one sentence each; none if no database is set."""
    assert settings.database_url
    trying = _look_at(settings.database_url.get_secret_value())
    looked = await attempt("The database", trying, settings.health_seconds, _ADDRESS)
    if isinstance(looked, Check):
        return [looked]
    return [part(looked) for part in (_server, _tables, _connections, _workers)]


async def _look_at(url: str) -> Looked:
    check_installed()
    from spadework.machines.postgres.inspection import look_at

    try:
        return await look_at(url)
    except SettingsError as error:
        raise SettingsError(str(error), hint=_ADDRESS) from None


async def database_fault(settings: Settings) -> str:
    """Return why the database cannot be used now, without naming places; "" if it can, or none is
    set.
    """
    try:
        async with asyncio.timeout(settings.health_seconds), shared_sessions(settings) as shared:
            await shared.database.ask("SELECT 1")
    except (TimeoutError, SpadeworkError):
        return AWAY
    return ""


def _server(looked: Looked) -> Check:
    said = f"PostgreSQL {looked.version.partition(' ')[0]}, {looked.where}, answers"
    if looked.number >= OLDEST:
        return Check(state="works", text=f"{said} in {1000 * looked.seconds:.0f} ms")
    needed = f"PostgreSQL {OLDEST // 10_000} or newer is needed."
    return Check(state="broken", text=f"{said}, and is too old.", hint=needed)


def _tables(looked: Looked) -> Check:
    from spadework.machines.postgres.migration import HEAD

    if looked.tables == HEAD:
        return Check(state="works", text=f"its tables are up to date (version {HEAD})")
    if looked.tables > HEAD:
        said = f"Its tables are of a newer spadework (version {looked.tables}; this knows {HEAD})."
        return Check(state="broken", text=said, hint="Update spadework on this machine.")
    had = f"are of version {looked.tables}" if looked.tables else "are not made yet"
    return Check(state="hint", text=f"its tables {had}: the next run brings them to version {HEAD}")


def _connections(looked: Looked) -> Check:
    state: State = "works" if looked.free >= OF_A_WORKER else "hint"
    said = f"{looked.free} of its {looked.most} connections are free"
    more = "" if state == "works" else f"; a worker holds up to {OF_A_WORKER} (max_connections)"
    return Check(state=state, text=said + more)


def _workers(looked: Looked) -> Check:
    sessions = f"{looked.waiting} sessions wait, {looked.running} run"
    if not looked.workers:
        return Check(
            state="hint", text=f"no worker lives, {sessions}", hint="`spadework worker` starts one."
        )
    live = "1 worker lives" if looked.workers == 1 else f"{looked.workers} workers live"
    return Check(state="works", text=f"{live}, {sessions}")
