"""Copying a session to this machine: its folder, built from the database, as needed to run or show
it. Drawn files are drawn here.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from spadework.errors import SessionBusy, SessionError
from spadework.events import Finished, read_event
from spadework.sessions.record.log import log_lines
from spadework.sessions.record.records import redraw
from spadework.sessions.storage.files import make_folder, whole_result
from spadework.sessions.storage.lock import hold_session
from spadework.sessions.storage.session_file import LOG, METADATA
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically

if TYPE_CHECKING:
    from spadework.machines.postgres.session_rows import Kept, SharedSessions


#: Seconds to wait for a local process that works on the folder, and between two checks.
BUSY_SECONDS, LOOK_SECONDS = 15.0, 0.2
#: Maximum length of a chain of follow-ups.
MOST_FOLLOWED = 6


async def copy_session(
    shared: SharedSessions, settings: Settings, kept: Kept, *, patient: bool = True
) -> Path:
    """Return a session's up-to-date folder in the settings' home; waits for a local process that
    runs it.
    """
    folder = settings.home / "sessions" / kept.id
    until = asyncio.get_running_loop().time() + BUSY_SECONDS
    while True:
        try:
            new = await _fill(shared, folder, kept)
            break
        except SessionBusy:
            late = asyncio.get_running_loop().time() > until
            if late or not patient or (await on_disk(whole_result, folder)) is not None:
                return folder
        await asyncio.sleep(LOOK_SECONDS)
    if new:
        with suppress(SessionError):
            await asyncio.to_thread(redraw, folder, settings)
    return folder


async def bring_to_run(shared: SharedSessions, settings: Settings, kept: Kept) -> Path:
    """Return the folder of a session to run here, after copying the sessions it follows. Raises
    SessionBusy if another local process works on it.
    """
    follows: str = json.loads(kept.brief)["follows"]
    for _ in range(MOST_FOLLOWED):
        before = await shared.find(follows) if follows else None
        if before is None or before.owner != kept.owner:
            break
        await copy_session(shared, settings, before)
        follows = json.loads(before.brief)["follows"]
    folder = settings.home / "sessions" / kept.id
    await _fill(shared, folder, kept)
    return folder


async def _fill(shared: SharedSessions, folder: Path, kept: Kept) -> bool:
    """Write what is missing; return whether that included events. Raises SessionBusy."""
    await on_disk(make_folder, folder)
    names = await shared.file_names(kept.id)
    missing = [name for name in names if _may_be(name) and not (folder / name).exists()]
    files = await shared.files(kept.id, missing)
    with hold_session(folder):
        for name, data in files.items():
            await on_disk(write_atomically, folder / name, data)
        if not (folder / METADATA).exists():
            await on_disk(write_atomically, folder / METADATA, metadata_at(folder, kept.metadata))
        told = await on_disk(_whole_lines, folder / LOG)
        events = await shared.events(kept.id, told)
        if events:
            lines = "".join(f"{_at(folder, line)}\n" for _, line in events)
            await on_disk(log_lines, folder, lines.encode())
        return bool(events)


def metadata_at(folder: Path, metadata: str) -> bytes:
    """Return metadata for a folder, with its local attachment paths."""
    known = json.loads(metadata)
    known["attachments"] = [str(folder / name) for name in known.get("attachments", [])]
    return json.dumps(known, indent=1).encode()


def _whole_lines(log: Path) -> int:
    try:
        data = log.read_bytes()
    except FileNotFoundError:
        return 0
    if not data.endswith(b"\n"):
        whole = data[: data.rfind(b"\n") + 1]
        write_atomically(log, whole)
    return data.count(b"\n")


def _at(folder: Path, line: str) -> str:
    """Return an event for this machine: a result names the local folder."""
    if '"session_dir"' not in line:
        return line
    with suppress(ValidationError):
        event = read_event(line.encode())
        if isinstance(event, Finished):
            result = event.result.model_copy(update={"session_dir": str(folder)})
            return event.model_copy(update={"result": result}).model_dump_json()
    return line


def _may_be(name: str) -> bool:
    """Return whether a file may have this name: at most one folder deep, and never above."""
    parts = name.split("/")
    return len(parts) <= 2 and all(part and not part.startswith(".") for part in parts)
