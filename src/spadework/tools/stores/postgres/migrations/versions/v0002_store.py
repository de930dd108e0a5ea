"""Short lists that all servers read: the tokens of users, and what is shared."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

#: `version` counts the changes of a list: who knows it reads no rows.
_LISTS = "CREATE TABLE lists (name text PRIMARY KEY, version bigint NOT NULL, rows text NOT NULL)"


def upgrade() -> None:
    """Make the tables."""
    op.execute(_LISTS)


def downgrade() -> None:
    """Remove them with all that they hold."""
    op.execute("DROP TABLE lists")
