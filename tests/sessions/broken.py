"""Ways in which a file of a session is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
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
