"""Files and folders that only their owner can read, and the ids of sessions that name them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

#: What others may do with a file or folder.
_OTHERS = 0o077


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; one that is there stays as it is."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not missing and not folder.is_dir():
        folder.mkdir()  # says what stands in its place


def private_folder(folder: Path) -> None:
    """Make a folder that is ours alone; from one of an earlier version others are shut out."""
    make_folder(folder)
    _close(folder)


def private_file(path: Path) -> None:
    """Make an empty file that is ours alone, in such a folder; from one that is there others are
    shut out.
    """
    make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | getattr(os, "O_CLOEXEC", 0), 0o600))
    _close(path)


def close_files(folder: Path) -> None:
    """Close the files of a folder to others: those that a library has written by itself."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # replaced meanwhile
            _close(path)


def _close(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):  # somebody else's, who lets us write there
            path.chmod(mode & 0o777 & ~_OTHERS)


def is_session_id(text: str) -> bool:
    """Whether a text can be the id of a session: letters, digits, - and _; never a path."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]{0,99}", text, re.ASCII) is not None
