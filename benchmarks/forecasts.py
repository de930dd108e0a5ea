"""Whether runs take what was foreseen: `python -m benchmarks.forecasts [RUNS] [KIND…]`,
or with `SEED=8` before it other draws.

Six kinds of run, so many of each (20), by turns in one home: with a model and without, over the web
and over a library, in quick, normal and deep effort. The web, its search engine and the model are
those of the tests' world on loopback; each answer takes as long as a lognormal draw says, a run as
a whole has a fast network or a slow one, pages are short or long, one in eight fails, and questions
ask for one thing or several. The first ten runs of a kind are not counted: they are what the others
are foreseen by, with those that come after them.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from spadework.graph.effort.forecast import DIGITS
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Forecast, Span
from tests.world.background import Background
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

RUNS, LEARNING = 20, 10
TOWNS = [
    f"Port {a}{b}"
    for a in ("Alder", "Bram", "Cor", "Dun", "Elm")
    for b in ("mere", "wick", "low", "ton")
]
THINGS = ("inhabitants", "lighthouse", "harbour", "market", "history", "ferry")
SITES = ("encyclopedia", "news", "blog", "forum", "mirror", "archive")


@dataclass(frozen=True)
class Kind:
    """A kind of run: its settings, and whether a model and the web are there."""

    name: str
    effort: str
    model: bool
    web: bool


KINDS = (
    Kind("library, no model, quick", "quick", model=False, web=False),
    Kind("library, no model", "normal", model=False, web=False),
    Kind("web, no model", "normal", model=False, web=True),
    Kind("web, model, quick", "quick", model=True, web=True),
    Kind("web, model", "normal", model=True, web=True),
    Kind("library, model, deep", "deep", model=True, web=False),
)


class Varying:
    """Seconds before an answer: a lognormal draw each time, times how slow the run is."""

    slow = 1.0
    chance = random.Random(1)
    #: Seconds in the middle of the draws, and the spread of their logarithms.
    middle, spread = 0.25, 0.6

    @property
    def delay(self) -> float:
        """The next draw."""
        return self.slow * self.chance.lognormvariate(0, self.spread) * self.middle

    @delay.setter
    def delay(self, _: float) -> None:
        """What a reset sets it to is nothing to it."""


class Web(Varying, World):
    """The sites, each page at its own pace."""


class Engine(Varying, Searx):
    """The search engine at its own pace."""


class Slow(Varying, Model):
    """The model at its own pace."""

    middle, spread = 0.6, 0.5


def text_of(town: str, thing: str, chance: random.Random) -> str:
    """Some paragraphs about a thing of a town: a few, or many."""
    count = max(1, int(chance.lognormvariate(1.8, 0.9)))
    lines = [
        f"The {thing} of {town} was counted as {chance.randrange(10, 9_999)} in the year"
        f" {1700 + n % 300}, and {chance.choice(('rose', 'fell'))} in the years after that, as the"
        f" register of the {thing} of {town} says on its page {n}."
        for n in range(count)
    ]
    return "\n\n".join(lines)


def publish(world: World, notes: Path, chance: random.Random) -> None:
    """The same matters as pages and as files; one page in eight fails."""
    notes.mkdir()
    for town in TOWNS:
        for thing in THINGS:
            text, name = text_of(town, thing, chance), f"{town} {thing}".replace(" ", "-").lower()
            (notes / f"{name}.md").write_text(f"# The {thing} of {town}\n\n{text}\n")
            told = "".join(f"<p>{line}</p>" for line in text.split("\n\n"))
            title = f"The {thing} of {town}"
            page = f"<title>{title}</title><main><h1>{title}</h1>{told}</main>"
            status = 503 if chance.random() < 1 / 8 else 200
            world.put(chance.choice(SITES), f"/{name}", page, status=status)


def asked(chance: random.Random) -> tuple[str, dict[str, str]]:
    """A question, and the topics into which a model splits it, with their queries."""
    town, other = chance.sample(TOWNS, 2)
    things = chance.sample(THINGS, chance.choice((1, 1, 2, 3, 4)))
    if chance.random() < 0.3:
        question = f"Compare the {things[0]} of {town} and the {things[0]} of {other}"
        return question, {f"{t} {things[0]}": f"{t} {things[0]}" for t in (town, other)}
    question = f"What is known about the {' and the '.join(things)} of {town}?"
    return question, {f"{thing} of {town}": f"{town} {thing}" for thing in things}


class Bench:
    """The servers and the home in which all runs are made."""

    def __init__(self, background: Background, folder: Path) -> None:
        self.chance = random.Random(int(os.environ.get("SEED", "7")))
        self.web = Web(background)
        self.engine, self.model = Engine(background, self.web), Slow(background)
        self.home, self.notes = folder / "home", folder / "notes"
        publish(self.web, self.notes, self.chance)

    def settings(self, kind: Kind) -> Settings:
        """The settings of a kind."""
        given: dict[str, Any] = {"home": self.home, "effort": kind.effort, "minutes": 3}
        given |= (
            {"search": "searxng", "searxng_url": self.engine.url, "allow_hosts": self.web.hosts}
            if kind.web
            else {"search": "library", "library": (self.notes,)}
        )
        if kind.model:
            env = self.model.env
            given |= {
                "openai_base_url": env["OPENAI_BASE_URL"],
                "openai_api_key": env["OPENAI_API_KEY"],
                "model": "openai:world-model",
                "prices": {"world-model": (1.0, 10.0)},
            }
        return Settings.load(**given)

    async def run(self, kind: Kind) -> tuple[Forecast | None, dict[str, float]]:
        """What was foreseen of a run, and what it took."""
        Varying.slow = self.chance.lognormvariate(0, 0.35)
        question, topics = asked(self.chance)
        self.model.reset()
        # Some things are proven only by a word that few passages hold.
        keywords = {name: "rose" for name in topics if self.chance.random() < 0.3}
        play(self.model, topics, keywords=keywords)
        result = await Session.start(question, settings=self.settings(kind)).result()
        used = result.usage
        return result.forecast, {
            "rounds": result.iterations,
            "searches": used.searches,
            "pages": used.pages,
            "calls": used.model_calls,
            "tokens": used.tokens_in + used.tokens_out,
            "seconds": result.timings["total"],
        }


#: The share of runs that may end outside a range, for the interval score.
OUTSIDE = 0.1


def interval_score(span: Span, came: float) -> float:
    """Return the width of a range, and for a run outside of it twice the distance over OUTSIDE: the
    least on average for the range that truly holds nine of ten, no wider than it must be.
    """
    distance = max(span.low - came, came - span.high, 0.0)
    return span.high - span.low + 2 / OUTSIDE * distance


class Held:
    """How often the ranges of one kind held what came, and their width and score beside it."""

    def __init__(self) -> None:
        self.hits: defaultdict[str, list[bool]] = defaultdict(list)
        self.widths: list[float] = []
        self.scores: list[float] = []
        self.came: list[float] = []
        self.misses: list[float] = []

    def take(self, forecast: Forecast, took: dict[str, float]) -> None:
        """Count a run."""
        for name in DIGITS:
            span: Span | None = getattr(forecast, name)
            if span is not None and name in took:
                self.hits[name].append(span.low <= took[name] <= span.high)
        middle = forecast.seconds.median or 0.0
        self.widths.append(forecast.seconds.high - forecast.seconds.low)
        self.scores.append(interval_score(forecast.seconds, took["seconds"]))
        self.came.append(took["seconds"])
        self.misses.append(abs(took["seconds"] / max(0.01, middle) - 1))


@contextmanager
def bench() -> Iterator[Bench]:
    """The servers, and a folder that goes with them."""
    with Background() as background, tempfile.TemporaryDirectory() as folder:
        yield Bench(background, Path(folder))


def row(name: str, parts: list[Held]) -> str:
    """A line of the table."""
    shares = []
    for what in ("seconds", "searches", "pages", "calls", "tokens", "rounds"):
        hits = [hit for part in parts for hit in part.hits[what]]
        shares.append(f"{sum(hits)}/{len(hits)}")
    middle = median(came for part in parts for came in part.came)
    width = median(width for part in parts for width in part.widths) / middle
    score = fmean(score for part in parts for score in part.scores) / middle
    miss = median(miss for part in parts for miss in part.misses)
    return f"| {name} | {' | '.join(shares)} | {width:.2f} | {score:.2f} | {100 * miss:.0f} % |"


def main() -> None:
    """Run all kinds by turns and print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    kinds = [kind for kind in KINDS if not sys.argv[2:] or kind.name in sys.argv[2:]]
    held = {kind.name: Held() for kind in kinds}
    with bench() as servers:
        for n in range(runs):
            for kind in kinds:
                forecast, took = asyncio.run(servers.run(kind))
                told = forecast.seconds if forecast else Span()
                print(
                    f"{n} {kind.name}: {took['seconds']:.2f} s, foreseen {told.low:.2f} to"
                    f" {told.high:.2f} by {forecast.runs if forecast else 0} runs",
                    file=sys.stderr,
                    flush=True,
                )
                if forecast and n >= LEARNING:
                    held[kind.name].take(forecast, took)
    print("| kind | seconds | searches | pages | calls | tokens | rounds | width | score | off |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, one in held.items():
        print(row(name, [one]))
    print(row("all", list(held.values())))


if __name__ == "__main__":
    main()
