"""Which session gave an answer: a chat client sends our answers back as they were, and knows no
sessions.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from spadework.errors import SessionError
from spadework.sessions.files import read_metadata, session_folder
from spadework.tools.stores.page_store import write_atomically

FOLDER = "answers"


def remember(home: Path, answer: str, session_id: str) -> None:
    """Note that a session gave an answer."""
    path = _path(home, answer)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, session_id.encode())


def recall_session(home: Path, answer: str) -> str:
    """The session that gave an answer, "" where none did, or it is deleted or broken."""
    try:
        session_id = _path(home, answer).read_text(encoding="utf-8")
        return read_metadata(session_folder(home, session_id)).id
    except (OSError, UnicodeDecodeError, SessionError):
        return ""


def _path(home: Path, answer: str) -> Path:
    # Clients trim answers, and some change the ends of their lines.
    return (
        home
        / FOLDER
        / hashlib.sha256(" ".join(answer.split()).encode(errors="replace")).hexdigest()
    )
