"""Which session gave an answer: a chat client sends our answers back as they were, and knows no
sessions.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from spadework.graph.desk import is_session_id
from spadework.sessions.records import METADATA
from spadework.tools.pages import write_atomically

FOLDER = "answers"


def remember(home: Path, answer: str, session_id: str) -> None:
    """Note that a session gave an answer."""
    path = _path(home, answer)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, session_id.encode())


def recalled(home: Path, answer: str) -> str:
    """The session that gave an answer, "" where none did, or it is deleted."""
    try:
        session_id = _path(home, answer).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    known = is_session_id(session_id) and (home / "sessions" / session_id / METADATA).is_file()
    return session_id if known else ""


def _path(home: Path, answer: str) -> Path:
    # Clients trim answers, and some change the ends of their lines.
    return (
        home
        / FOLDER
        / hashlib.sha256(" ".join(answer.split()).encode(errors="replace")).hexdigest()
    )
