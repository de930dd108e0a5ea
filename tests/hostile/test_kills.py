"""Runs that are killed at any moment and resumed: what was answered is not asked again, what is
charged is what was answered, and the report, the work products, the logs and the measures are those
of a run that nobody has killed.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hostile.drawn import differing, drawn
from tests.hostile.killing import Kill, Killed, Killing, Servers, Tally, chosen, plain
from tests.hostile.scenes import SCENES, WITH_MODEL, WITHOUT_MODEL
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

#: Kills of each scene, of which every fourth is followed by another while it is resumed.
TIMES = 34


@pytest.fixture
def servers(world: World, searx: Searx, model: Model, embeddings: Embeddings) -> Servers:
    return Servers(world, searx, model, embeddings)


def check(killed: Killed, alone: Tally, named: str) -> None:
    """As if nobody had killed it. `named` says which kill it was."""
    tally, told = killed.tally, f"{named}: {killed.log}"
    assert not killed.repeated, told
    assert tally.is_paid, told
    assert tally.charges == alone.charges, told
    assert plain(tally.result.report) == plain(alone.result.report), told
    assert not differing(drawn(alone.home), drawn(tally.home)), told


FULL = pytest.mark.full


@pytest.mark.full
@pytest.mark.parametrize(
    ("scene", "kills"),
    [
        pytest.param(WITH_MODEL, [Kill(24, 0.01)], id="while it reads"),
        pytest.param(WITH_MODEL, [Kill(38, 0.005), Kill(2, 0.01)], id="twice", marks=FULL),
        pytest.param(WITHOUT_MODEL, [Kill(14, 0.02)], id="without a model", marks=FULL),
    ],
)
@pytest.mark.slow
@pytest.mark.timeout(300)  # a busy machine takes ten times as long
def test_a_run_that_is_killed_and_resumed_is_as_if_nobody_had_killed_it(
    scene, kills, servers: Servers, tmp_path: Path
) -> None:
    killing = Killing(scene, servers, tmp_path)
    alone = killing.undisturbed()
    killed = killing.killed(kills)
    assert killed.log
    check(killed, alone, f"{kills}")


@pytest.mark.full
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_it_is_killed_at_any_moment(scene, servers: Servers, tmp_path: Path) -> None:
    killing = Killing(scene, servers, tmp_path)
    alone = killing.undisturbed()
    answers = sum(alone.asked.values())
    for seed in range(TIMES):
        chance = random.Random(f"{scene.name} {seed}")
        killed = killing.killed(chosen(chance, answers, 2 if seed % 4 == 3 else 1))
        check(killed, alone, f"{scene.name} {seed}")
