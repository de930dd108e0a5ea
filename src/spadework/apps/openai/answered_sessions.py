"""Lookup of the session behind an answer: chat clients send our answers back, but no session id."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import suppress
from pathlib import Path

from spadework.backend import backend_of
from spadework.errors import DiskFailed, SessionError, SettingsError
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.settings import Settings
from spadework.tools.stores.page_store import write_atomically

FOLDER = "answers"
_LOG = logging.getLogger(__name__)


async def remember(settings: Settings, answer: str, session_id: str) -> None:
    """Record which session gave an answer; only on this machine if the database is down."""
    known, noted = _hash(answer), False
    with suppress(DiskFailed, SettingsError):
        noted = await backend_of(settings).note_answer(settings, known, session_id)
    if not noted:
        try:
            await asyncio.to_thread(_write, settings.home / FOLDER / known, session_id)
        except OSError as error:  # the answer is there, but cannot be followed up
            _LOG.warning("Session %s: its answer cannot be noted: %s", session_id, error)


async def recall_session(settings: Settings, answer: str) -> str:
    """Return the session that gave an answer; "" if unknown, deleted or broken."""
    known = _hash(answer)
    session_id = await backend_of(settings).answered_by(settings, known) or await asyncio.to_thread(
        _read, settings.home / FOLDER / known
    )
    try:
        await backend_of(settings).find(settings, session_id)
        folder = session_folder(settings.home, session_id)
        return (await asyncio.to_thread(read_metadata, folder)).id
    except SessionError:
        return ""


def _write(path: Path, session_id: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, session_id.encode())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _hash(answer: str) -> str:
    # Clients trim answers, and some change line ends.
    return hashlib.sha256(" ".join(answer.split()).encode(errors="replace")).hexdigest()
