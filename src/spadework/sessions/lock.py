"""One process a session: a lock of the operating system, which dies with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from spadework.errors import SessionBusy

#: The file that is locked.
LOCK = ".lock"


@contextmanager
def hold_session(folder: Path) -> Iterator[None]:
    """Hold the session in `folder`. Raises SessionBusy when another process does."""
    lock = FileLock(folder / LOCK, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SessionBusy(f"Session {folder.name} is being worked on by another process.") from None
    try:
        yield
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Whether a process, this one among them, works on the session in `folder` now."""
    if not (folder / LOCK).exists():
        return False
    try:
        with hold_session(folder):
            return False
    except SessionBusy:
        return True
