"""Ways in which a file of a session is broken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

FILES = (
    "session_metadata.json",
    "result.json",
    "progress_tracking.json",
    "evidence.jsonl",
    "events.jsonl",
)


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _cannot_be_opened(path: Path) -> None:
    # A link to itself: also who may read everything cannot read it.
    path.unlink(missing_ok=True)
    path.symlink_to(path)


def _wrong_types(path: Path) -> None:
    held = json.loads(path.read_bytes().split(b"\n")[0] if path.suffix == ".jsonl" else "{}")
    wrong = {"id": 5, "query": None, "rounds": 3, "created_at": "soon", "topics": {"a": 1}}
    path.write_text(json.dumps(dict.fromkeys(held, 7) | wrong) + "\n")


def _cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def share(of: float) -> Callable[[Path], object]:
    """Leaves the first part of a file."""
    return lambda path: path.write_bytes(path.read_bytes()[: int(path.stat().st_size * of)])


def _overwritten(path: Path) -> None:
    """Every third page of a database is filled with other bytes."""
    data = bytearray(path.read_bytes())
    for start in range(2 * 4_096, len(data) - 4_096, 3 * 4_096):
        data[start : start + 2_000] = b"\xa5" * 2_000
    path.write_bytes(bytes(data))


def _checkpoint(path: Path) -> None:
    """One bit of the last checkpoint is another, which SQLite does not see."""
    with closing(sqlite3.connect(path)) as db:
        [(number, data)] = db.execute(
            "SELECT rowid, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1"
        )
        changed = data[:50] + bytes([data[50] ^ 1]) + data[51:]
        db.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (changed, number))
        db.commit()


def _kind(path: Path) -> None:
    """The kind of a saved value is one that nobody knows."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE checkpoints SET type = 'nothing+sum'")
        db.commit()


def _charge(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE exchanges SET used = '{\"pages\": '")
        db.commit()


def _name(path: Path) -> None:
    """A table's definition is no valid text, which SQLite shows in what it says of it."""
    data = path.read_bytes()
    assert b"TABLE journal" in data
    path.write_bytes(data.replace(b"TABLE journal", b"TABLE j\xd4 (nal"))


DATABASE_BREAKAGES: dict[str, Callable[[Path], object]] = {
    "a tenth": share(0.1),
    "half": share(0.5),
    "nearly all": share(0.97),
    "overwritten": _overwritten,
    "a checkpoint": _checkpoint,
    "a kind": _kind,
    "a charge": _charge,
    "a name": _name,
    "no database": lambda path: path.write_bytes(b"Dear diary, " * 1_000),
    "a folder": _folder,
}
BREAKAGES: dict[str, Callable[[Path], object]] = {
    "cut off": _cut,
    "empty": lambda path: path.write_bytes(b""),
    "no JSON": lambda path: path.write_text("Dear diary,\n"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00{\n"),
    "a list": lambda path: path.write_text("[]\n"),
    "wrong types": _wrong_types,
    "too deep": lambda path: path.write_text("[" * 200_000),
    "a folder": _folder,
    "cannot be opened": _cannot_be_opened,
}
