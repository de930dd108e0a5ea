"""Write files that only their owner can read, and check session ids."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


def make_folder(folder: Path) -> None:
    """Create a private folder with its parents. Existing folders stay unchanged."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not missing and not folder.is_dir():
        folder.mkdir()  # raises an error about the file in its place


def private_folder(folder: Path) -> None:
    """Create a private folder, or make an existing one private."""
    make_folder(folder)
    _close(folder)


def private_file(path: Path) -> None:
    """Create an empty private file with its folder, or make an existing one private."""
    make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | getattr(os, "O_CLOEXEC", 0), 0o600))
    _close(path)


def close_files(folder: Path) -> None:
    """Make all files in a folder private, because libraries create some."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # it has been replaced meanwhile
            _close(path)


def _close(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):  # another user's file that we may write
            path.chmod(mode & 0o777 & ~_OTHERS)


def is_session_id(text: str) -> bool:
    """Return whether the text can be a session id: letters, digits, - and _; never a path."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]{0,99}", text, re.ASCII) is not None


#: Prevents Windows from changing line ends.
_AS_IT_IS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write `data` so that a reader sees either the old file or the new one.
    Permissions are `mode` minus the umask. By default, only the owner has access.
    """
    make_folder(path.parent)
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
