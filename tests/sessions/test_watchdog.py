"""A run that is stuck before it writes is closed by code in its time, with what it has read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from spadework.budget import Budget
from spadework.graph.early_end import LATE_REPORT, LATE_TOPIC
from spadework.graph.nodes import assess as assessing
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.sessions.followed import ASKED, TOPICS
from tests.world.model import Model

#: Seconds of a run, those for which something holds it up, and by which it may be late.
SECONDS, HELD, LATE = 20.0, 40.0, 2.0

pytestmark = [pytest.mark.full, pytest.mark.timed]


async def run(settings: Settings) -> Result:
    """The result of a run of so many seconds."""
    session = Session.start(ASKED, settings=settings, budget=Budget(minutes=SECONDS / 60))
    began = time.monotonic()
    result = await session.result()
    assert time.monotonic() - began < SECONDS + LATE
    return result


def quotes_of(result: Result) -> list[str]:
    """What the report of a run cites of the pages that were read."""
    cited = {citation.evidence_id for citation in result.citations}
    return [e.quote for topic in result.topics for e in topic.evidence if e.id in cited]


def busy(work: Callable[..., Any], times: int, until: float) -> Callable[..., Any]:
    """The work, at whose first calls the processor is kept busy."""
    calls = count()

    def held(*args: Any) -> Any:
        if next(calls) < times:
            while time.monotonic() < until:
                sum(range(1_000))
        return work(*args)

    return held


async def test_a_model_that_hangs_in_judging(model: Model, online: Settings) -> None:
    async def hang(_: Any) -> dict[str, Any]:
        await asyncio.sleep(HELD)
        return {}

    model.script("AssessmentAnswer", hang)
    model.script("SectionAnswer", hang)
    result = await run(online)
    assert quotes_of(result)
    failed = {p.subject for p in result.problems if "did not answer in time" in p.reason}
    assert failed == set(TOPICS)


@pytest.mark.parametrize(
    ("module", "name", "times"),
    [(assessing, "with_lists", len(TOPICS)), (assessing, "group_near_duplicates", 1)],
)
async def test_a_step_that_takes_all_of_the_processor(
    online: Settings, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, times: int
) -> None:
    held = busy(getattr(module, name), times, time.monotonic() + SECONDS + LATE)
    monkeypatch.setattr(module, name, held)
    result = await run(online)
    assert result.status == "time_limited"
    assert quotes_of(result)
    told = {(p.subject, p.reason) for p in result.problems}
    assert {(name, LATE_TOPIC) for name in TOPICS} | {("report", LATE_REPORT)} <= told
