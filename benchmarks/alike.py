"""Deep effort over many near-alike pages, with a model: `python benchmarks/alike.py`, from the
repository's root.

A web of pages whose sentences differ in a few figures, each page with more of them than the
last size, is researched with a scripted model that quotes all it is shown. Printed is whether the
run ended in its time and who wrote it: seconds beside the deadline, CPU seconds, entries of the
ledger, disagreements, and problems. `--busy` starts so many processes that do nothing but work.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.ranking import selection
from spadework.values import Result
from tests.world.background import Background
from tests.world.brain import evidence, written
from tests.world.library import MATTERS, WOODS, fact, filling, play_reader
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known of the keels, the sails, the ropes, the lamps and the bells of the boats?"
#: Sites of the test world that answer as they should.
SOUND = ("docs", "news", "mirror", "forum", "archive", "encyclopedia", "blog")
#: Sentences of a page.
SIZES = (20, 80, 320)


class Ended(NamedTuple):
    """How a run ended: its result, its seconds, and those of the processor."""

    result: Result
    seconds: float
    cpu: float


def put_alike(world: World, searx: Searx, pages: int, sentences: int) -> None:
    """Publish so many pages of near-alike sentences, of one matter each, found by its queries."""
    found: dict[str, list[str]] = {}
    for n in range(pages):
        matter = MATTERS[n % len(MATTERS)].lower()
        told = [
            f"<p>The {WOODS[k % 4]} {matter} of boat {n + k} were renewed in {1500 + n * k % 400}"
            f" by its crew. The {matter} of boat {n + k} cost {100 + (7 * n + k) % 90} coins and"
            f" were {k % 9 + 2} metres long.</p>"
            for k in range(sentences // 2)
        ]
        own = f"<p>{fact(matter, n)}</p>"
        filled = "".join(f"<p>{filling(random.Random(f'{n} {k}'))}</p>" for k in range(12))
        title = f"{matter.title()} of boat {n}"
        page = f"<title>{title}</title><main><h1>{title}</h1>{own}{filled}{''.join(told)}</main>"
        url = world.put(SOUND[n % len(SOUND)], f"/boat-{n}", page)
        found.setdefault(f"{WOODS[n // len(MATTERS) % 4]} {matter}", []).append(url)
    for query, urls in found.items():
        searx.script(query, urls)


def run(background: Background, folder: Path, size: tuple[int, int], minutes: float) -> Ended:
    """Research so many pages of so many sentences once."""
    world, model = World(background), Model(background)
    searx = Searx(background, world)
    put_alike(world, searx, *size)
    play_reader(model, len(MATTERS))
    model.script("HitsAnswer", {"against": []})
    model.script("SectionAnswer", lambda r: written(*((q, [i]) for i, q in evidence(r)[:20])))
    with (
        patch.dict(os.environ, {**world.env, **searx.env, **model.env}),
        patch.object(selection, "PAGES_PER_DOMAIN", 20),
    ):
        settings = Settings.load(
            home=folder / "home", effort="deep", minutes=minutes, preset="recall", min_relevance=0.0
        )
        began, cpu = time.monotonic(), time.process_time()
        result = asyncio.run(research(QUESTION, settings))
        return Ended(result, time.monotonic() - began, time.process_time() - cpu)


def by_model(result: Result) -> bool:
    """Whether a model wrote the report."""
    return result.mode == "model" and not any(p.stage == "writer" for p in result.problems)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes at work."""
    workers = [multiprocessing.Process(target=_work, daemon=True) for _ in range(count)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def _work() -> None:
    while True:
        sum(range(10_000))


def main() -> None:
    """Print how the runs of all sizes end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=140)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    with Background() as background, busy(options.busy):
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                ended = run(background, Path(folder), (options.pages, size), options.minutes)
            result, late = ended.result, ended.seconds - 60 * options.minutes
            print(
                f"{options.pages} pages of {size} sentences: {ended.seconds:.0f} s ({late:+.0f} s),"
                f" CPU {ended.cpu:.0f} s, by {'a model' if by_model(result) else 'code'},"
                f" status {result.status}, read {len(result.sources)}, entries"
                f" {sum(len(t.evidence) for t in result.topics)}, disagreements"
                f" {len(result.conflicts)}, load {os.getloadavg()[0]:.0f}",
                flush=True,
            )
            for problem in result.problems[:8]:
                print(f"  {problem.stage}: {problem.subject[:40]}: {problem.reason[:110]}")


if __name__ == "__main__":
    main()
