"""Implement `spadework.backend.Backend` with a PostgreSQL database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from spadework.errors import SettingsError, SpadeworkError
from spadework.machines.session_lookup import (
    answered_by,
    bring_recording,
    find,
    forget,
    know_all,
    note_answer,
)
from spadework.machines.session_watch import cancel, run_by_workers
from spadework.machines.shared_limits import (
    ListTable,
    SharedDayLimit,
    check_installed,
    connected,
    limits_shared,
    list_news,
    shared_sessions,
)
from spadework.sessions.health.check import HEALTH_SECONDS, Check, State, attempt
from spadework.settings import Settings
from spadework.tools.knowledge.entry import Knowledge
from spadework.tools.stores.journal import Record
from spadework.tools.stores.journal_rows import Claim
from spadework.values import Value

if TYPE_CHECKING:
    import spadework.machines.backend as _this
    from spadework.backend import Backend
    from spadework.machines.database import Looked
    from spadework.machines.shared_limits import SharedCheckpoints

    _checked: Backend = _this


#: The oldest supported version of PostgreSQL (as `server_version_num`), and the maximum number of
#: database connections per worker.
OLDEST, OF_A_WORKER = 130_000, 14
AWAY = "The database does not answer."
_ADDRESS = "Check SPADEWORK_DATABASE_URL, and make sure that PostgreSQL is running at that address."


async def database(settings: Settings) -> list[Check]:
    """Check the database's server, tables, connections and workers."""
    assert settings.database_url
    trying = _look_at(settings.database_url.get_secret_value())
    looked = await attempt("The database", trying, HEALTH_SECONDS, _ADDRESS)
    if isinstance(looked, Check):
        return [looked]
    return [part(looked) for part in (_server, _tables, _connections, _workers)]


async def _look_at(url: str) -> Looked:
    check_installed()
    from spadework.machines.database import look_at

    try:
        return await look_at(url)
    except SettingsError as error:
        raise SettingsError(str(error), hint=_ADDRESS) from None


async def database_fault(settings: Settings) -> str:
    """Return why the database cannot be used (without revealing its address), or "" if it can."""
    try:
        async with asyncio.timeout(HEALTH_SECONDS), shared_sessions(settings) as shared:
            await shared.database.ask("SELECT 1")
    except (TimeoutError, SpadeworkError):
        return AWAY
    return ""


def _server(looked: Looked) -> Check:
    said = f"PostgreSQL {looked.version.partition(' ')[0]}, {looked.where}, answers"
    if looked.number >= OLDEST:
        return Check(state="works", text=f"{said} in {1000 * looked.seconds:.0f} ms")
    needed = f"PostgreSQL {OLDEST // 10_000} or newer is needed."
    return Check(state="broken", text=f"{said}, but this version is too old.", hint=needed)


def _tables(looked: Looked) -> Check:
    from spadework.machines.migration import HEAD

    if looked.tables == HEAD:
        return Check(state="works", text=f"the tables are up to date (version {HEAD})")
    if looked.tables > HEAD:
        said = (
            f"The tables were created by a newer spadework (version {looked.tables}; this one"
            f" supports {HEAD})."
        )
        return Check(state="broken", text=said, hint="Update spadework on this machine.")
    had = f"have version {looked.tables}" if looked.tables else "have not been created yet"
    return Check(state="hint", text=f"the tables {had}; the next run sets up version {HEAD}")


def _connections(looked: Looked) -> Check:
    state: State = "works" if looked.free >= OF_A_WORKER else "hint"
    said = f"{looked.free} of {looked.most} database connections are free"
    more = "" if state == "works" else f"; a worker may need {OF_A_WORKER}: raise max_connections"
    return Check(state=state, text=said + more)


def _workers(looked: Looked) -> Check:
    sessions = f"sessions waiting: {looked.waiting}, running: {looked.running}"
    if not looked.workers:
        starts = "To start one, run `spadework worker`."
        return Check(state="hint", text=f"no worker is running; {sessions}", hint=starts)
    live = "1 worker is running" if looked.workers == 1 else f"{looked.workers} workers are running"
    return Check(state="works", text=f"{live}; {sessions}")


__all__ = [
    "answered_by", "bring_recording", "cancel", "checkpoints", "connected", "database",
    "database_fault", "day_limit", "find", "forget", "know_all", "knowledge", "limits_shared",
    "list_news", "list_table", "note_answer", "run_by_workers",
]  # fmt: skip

Row = TypeVar("Row", bound=Value)


def list_table(url: str, name: str, rows: TypeAdapter[list[Row]], before: Path) -> ListTable[Row]:
    """Return the database's list `name`. `before` is the file used if there is no database."""
    return ListTable(url, name, rows, before)


def day_limit(settings: Settings) -> SharedDayLimit:
    """Return a user's daily spending limit, shared by all machines."""
    return SharedDayLimit(settings)


def checkpoints(claim: Claim, record: Record) -> SharedCheckpoints:
    """Return a claimed session's checkpoint saver."""
    from spadework.machines.shared_limits import SharedCheckpoints

    return SharedCheckpoints(claim, record)


def knowledge(settings: Settings, most_bytes: int) -> Knowledge:
    """Return the store of pages read by a user's runs. Raises SettingsError."""
    check_installed()
    from spadework.machines.knowledge_store import PostgresKnowledge

    assert settings.database_url
    return PostgresKnowledge(settings.database_url, settings.owner, most_bytes)
