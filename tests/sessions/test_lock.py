"""Who holds a session, and who only asks whether somebody does."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from spadework.errors import SessionBusy
from spadework.sessions.storage.files import LOCK, hold_session, is_held


def test_who_looks_for_a_moment_keeps_nobody_out(tmp_path: Path) -> None:
    looking = FileLock(tmp_path / LOCK, thread_local=False)
    looking.acquire()
    threading.Timer(0.05, looking.release).start()
    with hold_session(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)


@pytest.mark.timed
def test_who_only_asks_does_not_wait(tmp_path: Path) -> None:
    with hold_session(tmp_path):
        began = time.monotonic()
        assert is_held(tmp_path)
        assert time.monotonic() - began < 0.1
        with pytest.raises(SessionBusy), hold_session(tmp_path):
            pass


def test_a_lock_that_may_not_be_opened_is_not_held(tmp_path: Path) -> None:
    (tmp_path / LOCK).mkdir()
    assert not is_held(tmp_path)
