"""Many sessions in one process: fifty at once with 1,024 descriptors, five hundred in a row. Prints
what came of them and what they took.
"""

from __future__ import annotations

import json
import sys
import tempfile

from tests.sessions import crowd
from tests.tools.knowledge.pages import ferry
from tests.world.background import Background
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

SITES, DESCRIPTORS = ("archive", "news", "blog", "forum"), 1_024
SHORT = {"SPADEWORK_PAGES": "3", "SPADEWORK_ITERATIONS": "1"}


def main(how: str, sessions: int, minutes: str) -> None:
    """Run so many sessions `how` ("at_once", "with_model" or "in_a_row")."""
    with Background() as background:
        world = World(background)
        searx, model = Searx(background, world), Model(background)
        pages = [
            world.put(site, f"/ferry-{n}-{part}", ferry(n * 2 + part))
            for n, site in enumerate(SITES)
            for part in range(2)
        ]
        searx.script("ferry passengers", pages)
        topics = {"Ferry": "ferry passengers", "Harbour": "ferry passengers harbour"}
        play(model, topics, keywords={"Ferry": "passengers"})
        world.delay = searx.delay = model.delay = 0.1
        env = {
            **world.env,
            **searx.env,
            **(model.env if how == "with_model" else {}),
            **(SHORT if how == "in_a_row" else {}),
            "SPADEWORK_HOME": tempfile.mkdtemp(),
            "SPADEWORK_MAX_LEVEL": "0",
            "SPADEWORK_MINUTES": minutes,
        }
        kind = "in_a_row" if how == "in_a_row" else "at_once"
        sys.stdout.write(json.dumps(crowd.ran(kind, sessions, DESCRIPTORS, env)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
