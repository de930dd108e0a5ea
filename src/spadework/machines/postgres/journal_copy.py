"""Copy a session's journal to a file for replays."""

from __future__ import annotations

import secrets
from pathlib import Path

from spadework.machines.postgres.database import Database
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.session_database import SqliteRows

AT_ONCE = 50
_TABLES = {
    "journal": ("key, kind, subject, answer, error, used, elapsed, at::text", 8),
    "exchanges": ("number, key, kind, request, pieces, error, used, elapsed, at::text", 9),
}


async def copy_journal(database: Database, session_id: str, path: Path) -> None:
    """Write the journal to `path` atomically. Raises DatabaseDown, OSError or sqlite3.Error."""
    draft = path.with_name(f".{secrets.token_hex(8)}.sqlite")
    rows = await SqliteRows.open(draft)
    try:
        try:
            await _copy_rows(database, session_id, rows)
            await rows.db.commit()
            await rows.db.execute_fetchall("PRAGMA journal_mode = DELETE")  # leaves a single file
        finally:
            await rows.close()
        await on_disk(draft.replace, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


async def _copy_rows(database: Database, session_id: str, rows: SqliteRows) -> None:
    for name, (columns, count) in _TABLES.items():
        asked = f"SELECT {columns} FROM {name} WHERE session = %s"
        ours, marks = columns.replace("::text", ""), ", ".join("?" * count)
        put = f"INSERT INTO {name} ({ours}) VALUES ({marks})"
        await rows.db.executemany(put, await database.ask(asked, (session_id,)))
    asked = "SELECT hash FROM bodies WHERE session = %s ORDER BY hash"
    names = [name for (name,) in await database.ask(asked, (session_id,))]
    wanted = "SELECT hash, packed FROM bodies WHERE session = %s AND hash = ANY(%s)"
    for at in range(0, len(names), AT_ONCE):
        found = await database.ask(wanted, (session_id, names[at : at + AT_ONCE]))
        await rows.db.executemany("INSERT INTO bodies (hash, packed) VALUES (?, ?)", found)
