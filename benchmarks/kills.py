"""Runs that are killed at random moments and resumed: what the servers are asked again, what is
charged, and what becomes of the report and of all that is drawn from the record of the run.

python -m benchmarks.kills [TIMES] [SCENE…]
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.hostile.drawn import differing, drawn
from tests.hostile.killing import ON_ITS_WAY, Killed, Killing, Servers, Tally, chosen, plain
from tests.hostile.scenes import SCENES
from tests.world.background import Background
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


def main() -> None:
    """Kill runs of each scene so many times (34); every fourth of them twice."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 34
    named = sys.argv[2:] or [scene.name for scene in SCENES]
    print(
        "| scene | kills | answered and asked again | … of those on their way | their age |"
        " other charges | other reports | other work products, logs or measures"
        " |\n|---|---|---|---|---|---|---|---|"
    )
    with Background() as background, tempfile.TemporaryDirectory() as folder:
        world = World(background)
        servers = Servers(
            world, Searx(background, world), Model(background), Embeddings(background)
        )
        for scene in (scene for scene in SCENES if scene.name in named):
            killing = Killing(scene, servers, Path(folder))
            print(f"| {scene.name} | {_figures(killing, times)} |", flush=True)


def _figures(killing: Killing, times: int) -> str:
    alone = killing.undisturbed()
    answers, done = sum(alone.asked.values()), list[Killed]()
    for seed in range(times):
        chance = random.Random(f"{killing.scene.name} {seed}")
        killed = killing.killed(chosen(chance, answers, 2 if seed % 4 == 3 else 1))
        done.append(killed)
        told = f"{time.strftime('%H:%M:%S')} {killing.scene.name} {seed}: {'; '.join(killed.log)}"
        print(told, _faults(killed, alone), file=sys.stderr, flush=True)
    ages = [age for killed in done for _, age in killed.again if age <= ON_ITS_WAY]
    middle = f"{1000 * statistics.median(ages):.0f} ms" if ages else "–"
    return " | ".join(
        str(figure)
        for figure in (
            sum(said != "it had ended before" for killed in done for said in killed.log),
            sum(len(killed.repeated) for killed in done),
            len(ages),
            f"{middle}, at most {1000 * max(ages, default=0):.0f} ms",
            sum("charges" in _faults(killed, alone) for killed in done),
            sum("report" in _faults(killed, alone) for killed in done),
            sum(bool(differing(drawn(alone.home), drawn(killed.tally.home))) for killed in done),
        )
    )


def _faults(killed: Killed, alone: Tally) -> list[str]:
    tally = killed.tally
    found = {
        f"asked again: {killed.repeated}": bool(killed.repeated),
        "charges": not tally.is_paid or tally.charges != alone.charges,
        "report": plain(tally.result.report) != plain(alone.result.report),
    }
    found |= dict.fromkeys(differing(drawn(alone.home), drawn(tally.home)), True)
    return [name for name, wrong in found.items() if wrong]


if __name__ == "__main__":
    main()
