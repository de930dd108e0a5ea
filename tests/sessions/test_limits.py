"""Many sessions in one process ask hosts, the search and the model's server for no more at once
than one may, and each comes to its end.
"""

from __future__ import annotations

import asyncio
import statistics
import time

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.tools.knowledge.pages import ferry
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import peak

SITES = ("archive", "news", "blog", "forum")
MOST = 2


@pytest.mark.parametrize("sessions", [6, pytest.param(20, marks=pytest.mark.full)])
async def test_limits_hold_for_all_sessions_together(
    world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch, sessions: int
) -> None:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    pages = [
        world.put(site, f"/ferry-{n}-{part}", ferry(n * 2 + part))
        for n, site in enumerate(SITES)
        for part in range(2)
    ]
    searx.script("ferry passengers", pages)
    play(model, {"Ferry": "ferry passengers"}, keywords={"Ferry": "passengers"})
    world.delay = searx.delay = model.delay = 0.05
    settings = Settings.load(
        **{"max_level": 0, "cache_mb": 0, "knowledge": False, "minutes": 2},
        **{"model_parallel": MOST, "parallel_per_host": MOST},
        search_limits={"searxng": (100, MOST)},
    )
    began = time.monotonic()

    async def one(n: int) -> tuple[Result, float]:
        found = await research(f"How many passengers does ferry {n} of Aldermere carry?", settings)
        return found, time.monotonic() - began

    ended = await asyncio.gather(*(one(n) for n in range(sessions)))
    assert all(result.citations for result, _ in ended)
    assert {site: peak(world.asked(site)) for site in SITES} == dict.fromkeys(SITES, MOST)
    assert peak(record for record in searx.requests if record.path == "/search") == MOST
    assert peak(request.record for request in model.requests) == MOST
    seconds = [each for _, each in ended]
    assert max(seconds) <= 3 * statistics.median(seconds), "none waits for all the others"
