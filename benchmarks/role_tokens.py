"""What the calls of each role take in tokens, with a scripted model on the pages of the test world:
what the constants of `graph/effort/model_policy.py` are held against. Prints one line a role.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile

from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.world.background import Background
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Harbour": "Port Aldermere harbour office",
}


def main() -> None:
    """Run one session in normal effort, and print calls, tokens in and out by what was asked."""
    with Background() as background:
        world = World(background)
        searx, model = Searx(background, world), Model(background)
        os.environ |= {**world.env, **searx.env, **model.env}
        play(model, TOPICS, keywords={"Harbour": "tide"}, gaps={"Harbour": "tide tables printed"})
        settings = Settings.load(home=tempfile.mkdtemp(), max_level=1)
        asyncio.run(Session.start(QUESTION, settings=settings).result())
    used: dict[str, list[tuple[int, int]]] = {}
    for request in model.requests:
        used.setdefault(request.schema_name, []).append(request.used)
    for name, calls in used.items():
        told = [each for each, _ in calls]
        said = [each for _, each in calls]
        sys.stdout.write(
            f"{name}: {len(calls)} calls, told {min(told)} to {max(told)} (mean"
            f" {statistics.mean(told):.0f}), said {min(said)} to {max(said)}, share said"
            f" {sum(said) / (sum(told) + sum(said)):.2f}\n"
        )


if __name__ == "__main__":
    main()
