"""Short lists that all servers read: the tokens of users, and what is shared. Which sessions were
deleted, so that no machine shows its copy.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

#: `version` counts the changes of a list: who knows it reads no rows.
_LISTS = "CREATE TABLE lists (name text PRIMARY KEY, version bigint NOT NULL, rows text NOT NULL)"
_DELETED = "CREATE TABLE deleted (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"


def upgrade() -> None:
    """Make the tables."""
    for statement in (_LISTS, _DELETED):
        op.execute(statement)


def downgrade() -> None:
    """Remove them with all that they hold."""
    for name in ("lists", "deleted"):
        op.execute(f"DROP TABLE {name}")
