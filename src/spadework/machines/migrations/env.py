"""The Alembic environment, which runs pending migrations in one transaction."""

from __future__ import annotations

from alembic import context

VERSION_TABLE = "migrations"


def run() -> None:
    """Run the migrations."""
    context.configure(
        connection=context.config.attributes["connection"], version_table=VERSION_TABLE
    )
    with context.begin_transaction():
        context.run_migrations()


run()
