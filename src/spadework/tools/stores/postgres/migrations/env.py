"""What Alembic runs: the missing steps, in one transaction of the given connection."""

from __future__ import annotations

from alembic import context

#: Where it is noted which step was the last.
VERSION_TABLE = "migrations"


def run() -> None:
    """Take the steps."""
    context.configure(
        connection=context.config.attributes["connection"], version_table=VERSION_TABLE
    )
    with context.begin_transaction():
        context.run_migrations()


run()
