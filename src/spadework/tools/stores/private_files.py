"""Files and folders readable only by their owner, and validation of session ids."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents; an existing one is unchanged."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not missing and not folder.is_dir():
        folder.mkdir()  # raises the error for what is in its place


def private_folder(folder: Path) -> None:
    """Create a private folder; make an existing one of an earlier version private."""
    make_folder(folder)
    _close(folder)


def private_file(path: Path) -> None:
    """Create an empty private file in such a folder; make an existing one private."""
    make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | getattr(os, "O_CLOEXEC", 0), 0o600))
    _close(path)


def close_files(folder: Path) -> None:
    """Make the files of a folder private, as libraries create some themselves."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # replaced meanwhile
            _close(path)


def _close(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):  # someone else's, writable for us
            path.chmod(mode & 0o777 & ~_OTHERS)


def is_session_id(text: str) -> bool:
    """Return whether a text can be a session id: letters, digits, - and _; never a path."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]{0,99}", text, re.ASCII) is not None
