"""One process per session: a lock of the operating system, which ends with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from spadework.errors import SessionBusy

LOCK = ".lock"
#: A check whether a session is held briefly holds it: maximum seconds to wait for that, and seconds
#: between attempts.
_MOMENT, _AGAIN = 0.2, 0.02


@contextmanager
def hold_session(folder: Path) -> Iterator[None]:
    """Hold the session in `folder`. Raises SessionBusy if another process does."""
    lock = _lock(folder)
    try:
        lock.acquire(timeout=_MOMENT, poll_interval=_AGAIN)
    except Timeout:
        raise SessionBusy(f"Session {folder.name} is being worked on by another process.") from None
    try:
        yield
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Return whether any process, including this one, works on the session in `folder`. A lock that
    cannot be opened counts as not held.
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
