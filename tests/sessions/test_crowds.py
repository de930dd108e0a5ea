"""Fifty sessions at once with the usual limit of descriptors, and hundreds one after the other."""

from __future__ import annotations

import sys

import pytest

from tests.sessions import crowd
from tests.tools.knowledge.pages import ferry
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [
    pytest.mark.process,
    pytest.mark.full,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of descriptors"),
]
SITES = ("archive", "news", "blog", "forum")
SHORT = {"SPADEWORK_PAGES": "3", "SPADEWORK_ITERATIONS": "1"}
PLAIN = {"SPADEWORK_MAX_LEVEL": "0", "SPADEWORK_MINUTES": "1"}


@pytest.fixture
def env(world: World, searx: Searx, model: Model) -> dict[str, str]:
    """Pages about ferries, and a search engine that finds them."""
    pages = [
        world.put(site, f"/ferry-{n}-{part}", ferry(n * 2 + part))
        for n, site in enumerate(SITES)
        for part in range(2)
    ]
    searx.script("ferry passengers", pages)
    play(model, {"Ferry": "ferry passengers"}, keywords={"Ferry": "passengers"})
    world.delay = searx.delay = model.delay = 0.05
    return {**world.env, **searx.env, **PLAIN}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("with_model", [False, True])
def test_fifty_at_once_end_with_the_usual_limit_of_descriptors(
    env: dict[str, str], model: Model, with_model: bool
) -> None:
    took = crowd.ran("at_once", 50, 1_024, {**env, **(model.env if with_model else {})})
    assert took["statuses"] == ["completed"]
    assert took["sources"] > 0, "none is empty"
    assert took["citations"] > 0
    assert took["mb"] < 900
    assert took["descriptors"] < 1_024
    assert took["slowest"] <= 3 * took["median"]


@pytest.mark.timeout(3_600)
def test_five_hundred_in_a_row_leave_nothing_behind(env: dict[str, str]) -> None:
    taken = crowd.ran("in_a_row", 500, 1_024, {**env, **SHORT})
    (mb, descriptors), *later = taken[50 // crowd.SPAN - 1 :]
    assert max(each for each, _ in later) <= 1.05 * mb
    assert max(each for _, each in later) <= descriptors
