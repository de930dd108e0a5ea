"""The backend of a PostgreSQL database: the functions of `spadework.backend.Backend`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from spadework.machines.database_check import database, database_fault
from spadework.machines.session_lookup import (
    answered_by,
    bring_recording,
    find,
    forget,
    know_all,
    note_answer,
)
from spadework.machines.session_watch import cancel, run_by_workers
from spadework.machines.shared import check_installed, connected
from spadework.machines.shared_day_limit import SharedDayLimit
from spadework.machines.shared_limits import limits_shared
from spadework.machines.shared_lists import ListTable, list_news
from spadework.settings import Settings
from spadework.tools.knowledge.entry import Knowledge
from spadework.tools.stores.event_record import Record
from spadework.tools.stores.journal_rows import Claim
from spadework.values import Value

if TYPE_CHECKING:
    from spadework.machines.shared_checkpoints import SharedCheckpoints

__all__ = [
    "answered_by", "bring_recording", "cancel", "checkpoints", "connected", "database",
    "database_fault", "day_limit", "find", "forget", "know_all", "knowledge", "limits_shared",
    "list_news", "list_table", "note_answer", "run_by_workers",
]  # fmt: skip

Row = TypeVar("Row", bound=Value)


def list_table(url: str, name: str, rows: TypeAdapter[list[Row]], before: Path) -> ListTable[Row]:
    """Return the list with a name; it exists already if there is a file `before` it."""
    return ListTable(url, name, rows, before)


def day_limit(settings: Settings) -> SharedDayLimit:
    """Return a user's daily limit over all machines."""
    return SharedDayLimit(settings)


def checkpoints(claim: Claim, record: Record) -> SharedCheckpoints:
    """Return the saver of the checkpoints of a claimed session."""
    from spadework.machines.shared_checkpoints import SharedCheckpoints

    return SharedCheckpoints(claim, record)


def knowledge(settings: Settings, most_bytes: int) -> Knowledge:
    """Return the store of pages read by a user's runs. Raises SettingsError."""
    check_installed()
    from spadework.machines.knowledge_store import PostgresKnowledge

    assert settings.database_url
    return PostgresKnowledge(settings.database_url, settings.owner, most_bytes)


if TYPE_CHECKING:
    import spadework.machines.backend as _this
    from spadework.backend import Backend

    _checked: Backend = _this
