"""Session ids: creation, and validation before one names a folder."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from spadework.errors import SettingsError
from spadework.tools.stores.private_files import is_session_id


def checked_session_id(session_id: str) -> str:
    """Return the id itself. Raises SettingsError if it could name a folder outside the sessions."""
    if not is_session_id(session_id):
        raise SettingsError(
            f"session_id cannot be {session_id[:80]!r}: letters, digits, - and _ are allowed."
        )
    return session_id


def new_session_id() -> str:
    """Return a session id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
