"""Lock a session, so that only one process works on it. The system frees the lock of a dead
process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from spadework.errors import SessionBusy

LOCK = ".lock"
#: Seconds to wait for the lock, which `is_held` takes briefly, and between attempts.
_MOMENT, _AGAIN = 0.2, 0.02


@contextmanager
def hold_session(folder: Path) -> Iterator[None]:
    """Lock a session. Raises SessionBusy if another process holds it."""
    lock = _lock(folder)
    try:
        lock.acquire(timeout=_MOMENT, poll_interval=_AGAIN)
    except Timeout:
        raise SessionBusy(f"Another process is working on session {folder.name}.") from None
    try:
        yield
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Return whether any process, even this one, holds a session. An unreadable lock counts as not
    held.
    """
    if not (folder / LOCK).exists():
        return False
    lock = _lock(folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def _lock(folder: Path) -> FileLock:
    return FileLock(folder / LOCK, mode=0o600)
