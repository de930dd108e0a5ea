"""What ships where the model lies, and what is lost where it tells the truth in other words: whole
runs over loopback with a scripted model, `python -m benchmarks.lying [--runs 30]`.

The pages hold the quotes of `lying.json`. The liar tells, in every section and summary and when it
mends, lies of all kinds and nothing else. Who tells the truth writes it as prose, list and table,
in sentences that lean on each other; the last row sets a lie among these in every section.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.lying_roles import (
    FACTS,
    LIES,
    Writer,
    about,
    as_markdown,
    assessed,
    gullible,
    honest,
    is_true,
    leans,
    lied,
    lying,
    mended,
    mixed,
    sentences,
    summed,
    truthful,
    unfit,
)
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result, Section
from tests.world.background import Background
from tests.world.brain import evidence, play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere and its harbour law?"


@dataclass
class Ran:
    """What a run wrote, and what became of it."""

    result: Result
    written: list[list[str]]

    @property
    def sections(self) -> list[Section]:
        """The sections of the report but those about the run itself."""
        kinds = ("summary", "topic", "code")
        return [section for section in self.result.document.sections if section.kind in kinds]

    @property
    def shown(self) -> list[list[str]]:
        """The sentences of the report, section by section."""
        return [[one.text for one in section.sentences] for section in self.sections]

    def lies(self, *, strange: bool | None = None) -> int:
        """The lies that stand in the report; `strange`: those with, or without, something that no
        page has, which counts wherever it stands.
        """
        headed = [[section.heading, *map(str, section.parts)] for section in self.sections]
        whole = "\n".join(chain(*self.shown, *headed, [self.result.document.title]))
        return sum(
            re.search(rf"\b{re.escape(lie['strange'] or lie['text'].strip('“.”'))}\b", whole)
            is not None
            for lie in LIES
            if strange in (None, bool(lie["strange"]))
        )

    @property
    def supported(self) -> int:
        """The lies that are called supported."""
        called = [c.sentence for c in self.result.citations if c.verdict == "supported"]
        return sum(any(lie["text"] in sentence for sentence in called) for lie in LIES)

    @property
    def survived(self) -> int:
        """The true sentences that reach the reader word for word."""
        shown = {text for section in self.shown for text in section}
        return sum(text in shown for section in self.written for text in section if is_true(text))

    @property
    def hanging(self) -> int:
        """The sentences that lean on, or lead to, something that does not stand there."""
        found = 0
        for section in self.shown:
            for last, text, after in zip(["", *section], section, [*section[1:], ""], strict=False):
                found += leans(text) and about(last) != about(text)
                found += text.endswith(":") and about(after) != about(text)
        return found


class Bench:
    """The world, and the model that plays all roles."""

    def __init__(self, background: Background) -> None:
        self.world = World(background)
        self.searx = Searx(background, self.world)
        self.model = Model(background)
        os.environ.update({**self.world.env, **self.searx.env, **self.model.env})

    async def run(self, write: Writer, judge: Callable[[ChatRequest], Any], seed: int) -> Ran:
        """A whole run in a home of its own."""
        chance, written = random.Random(seed), list[list[str]]()
        self.model.reset()
        self.searx.script("", [self._page(topic) for topic in ("Town", "Law")])
        play(self.model, {"Town": "Port Aldermere", "Law": "harbour law"})

        def section(request: ChatRequest) -> dict[str, Any]:
            ids = {quote: id_ for id_, quote in evidence(request)}
            own = [fact | {"id": ids[fact["quote"]]} for fact in FACTS if fact["quote"] in ids]
            # Sections are written side by side: each has dice of its own.
            made = write(random.Random(f"{seed} {own[0]['topic']}"), own)
            written.append([one for part in made for line in part for one in sentences(line)])
            return {"markdown": as_markdown(made)}

        self.model.script("AssessmentAnswer", assessed)
        self.model.script("SectionAnswer", section)
        self.model.script("MendingAnswer", lambda request: mended(request, write is lying, chance))
        self.model.script("VerdictsAnswer", judge)
        summary = lied if write is lying else summed
        self.model.script("SummaryAnswer", lambda request: summary(request, chance))
        with tempfile.TemporaryDirectory() as home:
            settings = Settings.load(home=Path(home), iterations=1, knowledge=False)
            result = await research(QUESTION, settings)
        if self.model.errors:
            raise ExceptionGroup("a scripted answer failed", self.model.errors)
        return Ran(result, written)

    def _page(self, topic: str) -> str:
        told = "".join(f"<p>{fact['quote']}</p>" for fact in FACTS if fact["topic"] == topic)
        page = f"<title>Port Aldermere</title><main><h1>{topic}</h1>{told}</main>"
        return self.world.put("blog", f"/{topic.lower()}", page)


async def measured(bench: Bench, runs: int) -> None:
    """Print the rows of both tables."""
    judges = {
        "an honest judge": lambda seed: honest,
        "a judge as unfit": unfit,
        "a judge that passed and believes all": lambda seed: gullible,
    }
    for name, judge in judges.items():
        done = [await bench.run(lying, judge(seed), seed) for seed in range(runs)]
        examined = sum(ran.result.mode == "model" for ran in done)
        told = sum(len(lines) for ran in done for lines in ran.written)
        print(
            f"liar, {name}: {runs} runs, {examined} judged by the model, {told} lies written;"
            f" in the report with what no page has {sum(ran.lies(strange=True) for ran in done)},"
            f" other lies {sum(ran.lies(strange=False) for ran in done)},"
            f" called supported {sum(ran.supported for ran in done)}"
        )
    for writer in (truthful, mixed):
        done = [await bench.run(writer, honest, seed) for seed in range(runs)]
        true_ones = sum(is_true(text) for ran in done for part in ran.written for text in part)
        print(
            f"{writer.__name__}: {runs} runs, {true_ones} true sentences,"
            f" {sum(ran.survived for ran in done) / true_ones:.3f} reach the reader,"
            f" hanging {sum(ran.hanging for ran in done)}, lies {sum(ran.lies() for ran in done)}"
        )


def main() -> None:
    """Run them all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=30)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "SPADEWORK_"))]:
        del os.environ[name]
    begun = time.monotonic()
    with Background() as background:
        asyncio.run(measured(Bench(background), given.runs))
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
