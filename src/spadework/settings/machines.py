"""How several machines share their work."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr


class Machines(BaseModel, defer_build=True):
    """How several machines share their work."""

    # Machines
    database_url: SecretStr | None = Field(
        None,
        description=(
            "PostgreSQL database of all machines, such as `postgresql://user:password@host/name`."
            " Sessions are then run by `spadework worker` processes, and shown by any process;"
            " users and knowledge are there, too. Needs the extra `postgres`. Unset: files and"
            " SQLite, and each process runs its own."
        ),
    )
