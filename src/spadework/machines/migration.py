"""Migrate our tables with Alembic, and the queue and checkpoint tables with the packages that
define them. Only one process migrates at a time.
"""

from __future__ import annotations

import time
from pathlib import Path

from langgraph.checkpoint.postgres import PostgresSaver
from procrastinate.schema import SchemaManager
from psycopg import Connection, OperationalError, sql
from psycopg.rows import DictRow, dict_row

#: The key of the advisory lock for migrations.
LOCK = 0x5ADE
LOCK_SECONDS = 60.0
#: Seconds between attempts to take the lock. A single statement that waits for the lock is not
#: used, because it would block the creation of indexes.
AGAIN_SECONDS = 0.2
MIGRATIONS = Path(__file__).parent / "migrations"
#: The number of the latest migration, which this version of spadework needs.
HEAD = max(path.name[1:5] for path in (MIGRATIONS / "versions").glob("v*.py"))
_APPLIED = "CREATE TABLE IF NOT EXISTS queue_migrations (file text PRIMARY KEY)"


def migrate(conninfo: str, schema: str) -> None:
    """Migrate the schema. Raises psycopg.Error if this fails or the tables are too new."""
    with Connection[DictRow].connect(conninfo, autocommit=True, row_factory=dict_row) as connection:
        _wait_for_lock(connection)
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        if (version := _version(connection)) > HEAD:
            raise OperationalError(
                f"its tables were created by a newer spadework (version {version}; this one"
                f" supports {HEAD})"
            )
        if version < HEAD:
            _our_tables(conninfo)
        _queue_tables(connection)
        PostgresSaver(connection).setup()


def _wait_for_lock(connection: Connection[DictRow]) -> None:
    until, asked = time.monotonic() + LOCK_SECONDS, "SELECT pg_try_advisory_lock(%s) AS held"
    while not ((row := connection.execute(asked, (LOCK,)).fetchone()) and row["held"]):
        if time.monotonic() > until:
            raise OperationalError("another process has been changing its tables for a minute")
        time.sleep(AGAIN_SECONDS)


def _version(connection: Connection[DictRow]) -> str:
    found = connection.execute("SELECT to_regclass('migrations') AS named").fetchone()
    if not found or found["named"] is None:
        return ""
    row = connection.execute("SELECT max(version_num) AS version FROM migrations").fetchone()
    return str(row["version"] or "") if row else ""


def _our_tables(conninfo: str) -> None:
    from alembic import command  # this import takes half a second
    from alembic.config import Config
    from sqlalchemy import NullPool, create_engine

    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: Connection.connect(conninfo), poolclass=NullPool
    )
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _queue_tables(connection: Connection[DictRow]) -> None:
    files = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    connection.execute(_APPLIED)
    known = {row["file"] for row in connection.execute("SELECT file FROM queue_migrations")}
    with connection.transaction():
        if not known:
            connection.execute(SchemaManager.get_schema().encode())
        for file in files:
            if file.name in known:
                continue
            if known:
                connection.execute(file.read_bytes())
            connection.execute("INSERT INTO queue_migrations VALUES (%s)", (file.name,))
