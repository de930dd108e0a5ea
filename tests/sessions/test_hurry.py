"""As the time of a run goes, it narrows: under half of it only the best pages, under two fifths
fewer passages and no new round, under a fifth what there is is written, and the watcher told.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from spadework.budget import Budget
from spadework.events import Distilled, Event, Finished, Notice, Read
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "How many people own a Quillon radio?"
#: Seconds of a run, and what is left of them at its marks.
SECONDS, BEST_ONLY, ACCELERATED, WRITE_NOW = 600, 300, 240, 120
EMERGENCY = "the report is being written"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A library of ten long documents that all speak of the same, and answer nothing."""
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(10):
        parts = (
            f"## Part {part} of {n}\n\nThe Quillon radio of kind {n}{part} is wound by hand, as its"
            f" maker {part * 7 + n} has written in a letter of no interest to anybody else.\n"
            for part in range(80)
        )
        (folder / f"radio-{n}.md").write_text(f"# Quillon radio {n}\n\n" + "\n".join(parts))
    return Settings.load(search="library", library=(folder,), completeness=1.0, iterations=3)


async def run(settings: Settings, left: float) -> tuple[Result, Sequence[Event]]:
    """The result of a run that begins with so many seconds left, and its events."""
    session = Session.start(QUESTION, settings=settings, budget=Budget(minutes=SECONDS / 60))
    session.budget.start(time.monotonic() - SECONDS + left)
    async with aclosing(session.events()) as events:
        seen = [event async for event in events]
    assert isinstance(seen[-1], Finished)
    return seen[-1].result, seen


def pages(events: Sequence[Event]) -> int:
    """Pages that were read for the first topic in the first round."""
    topic = next(event.topic for event in events if isinstance(event, Read))
    end = next(n for n, event in enumerate(events) if isinstance(event, Distilled))
    return sum(isinstance(e, Read) and e.topic == topic and not e.reason for e in events[:end])


def passages(events: Sequence[Event]) -> int:
    return next(event.passages for event in events if isinstance(event, Distilled))


async def test_under_half_of_the_time_only_the_best_pages_are_read(settings: Settings) -> None:
    _, calm = await run(settings, BEST_ONLY + 60)
    result, hurried = await run(settings, BEST_ONLY - 20)
    assert pages(calm) > 2
    assert pages(hurried) == (pages(calm) + 1) // 2
    assert result.iterations > 1, "there is time for another round"


@pytest.mark.full
async def test_under_two_fifths_fewer_passages_are_judged_and_no_round_begins(
    settings: Settings,
) -> None:
    _, before = await run(settings, BEST_ONLY - 20)
    result, hurried = await run(settings, ACCELERATED - 10)
    assert pages(hurried) == pages(before)
    assert 0 < passages(hurried) <= passages(before) // 2
    assert result.iterations == 1
    assert result.status == "time_limited"


async def test_under_a_fifth_what_there_is_is_written_and_the_watcher_told(
    world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    world.hang_everything = True
    began = time.monotonic()
    settings = Settings.load(max_level=0, search="searxng", knowledge=False)
    result, seen = await run(settings, WRITE_NOW + 8)
    assert time.monotonic() - began < WRITE_NOW / 2, "pages are not waited for to the end"
    assert searx.requests
    told = [event.text for event in seen if isinstance(event, Notice) and EMERGENCY in event.text]
    assert len(told) == 1
    assert "Less than 20 % of the time is left (120 s)" in told[0]
    assert result.status == "time_limited"


@pytest.mark.full
async def test_a_run_with_time_is_told_nothing_of_it(settings: Settings) -> None:
    _, seen = await run(settings, SECONDS)
    assert not [event for event in seen if isinstance(event, Notice) and EMERGENCY in event.text]
