"""The ids of sessions: what may be one. It costs nothing to import."""

from __future__ import annotations

import re


def is_session_id(text: str) -> bool:
    """Whether a text can be the id of a session: letters, digits, - and _; never a path."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]{0,99}", text, re.ASCII) is not None
