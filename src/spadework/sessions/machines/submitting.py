"""Submitting a session to the workers, with all that they need of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.errors import SettingsError
from spadework.sessions.brief import Brief
from spadework.sessions.files import Metadata
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_rows import SharedSessions


async def submit(shared: SharedSessions, settings: Settings, brief: Brief, known: Metadata) -> None:
    """Put a session where workers find it, with the files that were given along. Raises
    SettingsError where it follows one that they do not know, or a file cannot be read.
    """
    from spadework.tools.stores.postgres.queue import Queue
    from spadework.tools.stores.postgres.session_rows import New

    before = await shared.find(brief.follows) if brief.follows else None
    if brief.follows and (before is None or before.owner != settings.owner):
        raise SettingsError(
            f"Session {brief.follows[:80]} is on this machine alone, where no worker finds it.",
            hint="Ask without following it, or without SPADEWORK_DATABASE_URL.",
        )
    paths = _named(brief.attachments)
    files = {name: await on_disk(_read, path) for name, path in paths.items()}
    told = brief.told() | {"attachments": list(paths)}
    metadata = known.model_dump(mode="json") | {"attachments": list(paths)}
    # Text as JSON has it in ASCII: PostgreSQL takes no character that it does not know.
    texts = (json.dumps(told), json.dumps(metadata))
    await shared.submit(New(known.id, settings.owner, *texts, settings.user_runs), files)
    await Queue(shared.database).put(known.id)


def _named(attachments: tuple[str, ...]) -> dict[str, Path]:
    """The files that are given along, by their paths in the folder of the session."""
    found: dict[str, Path] = {}
    for n, given in enumerate(attachments, 1):
        path = Path(given)
        name = path.name.lstrip(".")
        first = f"attachments/{name}"
        found[first if name and first not in found else f"attachments/{n}-{name}"] = path
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}.") from None
