"""Today is the day of whoever asks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from spadework.deadline import today
from spadework.sessions.storage.files import Metadata


@pytest.fixture(params=["XXX-14", "XXX+12"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[timedelta]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", request.param)
        time.tzset()
        yield -timedelta(hours=int(request.param[3:]))
    time.tzset()


def test_today_is_the_local_day(zone: timedelta) -> None:
    local = datetime.now(UTC) + zone
    assert abs(today().replace(tzinfo=UTC) - local) < timedelta(minutes=1)


def test_a_session_keeps_the_day_on_which_it_was_asked_wherever_it_is_taken_up(
    zone: timedelta,
) -> None:
    asked = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)
    kept = Metadata(created_at=asked, utc_offset=60, query="What?")
    assert kept.began.date().isoformat() == "2026-03-05"
    assert kept.began == asked
