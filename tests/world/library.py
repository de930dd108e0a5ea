"""A library of many small documents about a few matters, and a model that reads them in shares."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from tests.world.brain import assessment, outline, play
from tests.world.chat import ChatRequest
from tests.world.model import Model

#: The matters, each a topic, and the woods of which a query of each asks for one.
MATTERS = ("Keels", "Sails", "Ropes", "Lamps", "Bells")
WOODS = ("oak", "pine", "ash", "elm")
#: Of so many documents one says nothing of its matter but the word.
EMPTY = 7
#: Words of what else is told: drawn for each document, so that none is a copy of another.
_WORDS = (
    "weather visitors prices market clerk winter barrels letter church road horses "
    "mill bread glass school garden flood bridge wages songs fever orchard candles "
    "court tax linen fire wells doctor coins "
)
_PASSAGE = re.compile(
    r"^Page \d+.*, found for topic [\d, ]+:\n<page_text>\n((?s:.*?))\n<", re.MULTILINE
)
_FACT = re.compile(r"(The \w+ (\w+) of boat \d+ were renewed in \d+ by its crew\.)")


def fact(matter: str, n: int) -> str:
    """What document `n` says of its matter."""
    return (
        f"The {WOODS[n % 4]} {matter.lower()} of boat {n} were renewed in {1500 + n} by its crew."
    )


def filling(drawn: random.Random) -> str:
    """A sentence of words that are drawn."""
    words = [drawn.choice(_WORDS.split()) for _ in range(24)]
    return f"The book of the harbour tells of {', '.join(words[:-1])} and {words[-1]}."


def put_library(folder: Path, count: int, fill: int = 12) -> None:
    """So many documents, each with as many paragraphs beside what it says."""
    folder.mkdir(parents=True)
    for n in range(count):
        matter = MATTERS[n % len(MATTERS)]
        told = [filling(random.Random(f"{n} {k}")) for k in range(fill)]
        own = f"In {matter.lower()}." if n % EMPTY == EMPTY - 1 else fact(matter, n)
        text = "\n\n".join([f"# {matter} of boat {n}", *told[: fill // 2], own, *told[fill // 2 :]])
        (folder / f"{n:03}.md").write_text(text + "\n")


def play_reader(model: Model, topics: int) -> None:
    """Script the roles for that many of the matters: whoever is shown a fact names it."""
    wanted = {m: f"{m.lower()} boat renewed crew" for m in MATTERS[:topics]}
    play(model, wanted)

    def plan(request: ChatRequest) -> dict[str, Any]:
        made = [
            {
                "name": name,
                "question": f"What about {name}?",
                "must_cover": [],
                "queries": [
                    {"text": f"{wood} {name.lower()} boat renewed", "kind": "original"}
                    for wood in WOODS
                ],
            }
            for name in wanted
        ]
        head = {"question_type": "general", "complexity": "complex", "freshness": "any"}
        return head | {"language": "en", "subjects": list(wanted), "topics": made}

    def read(request: ChatRequest) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        for text in _PASSAGE.findall(request.user):
            found += [
                {"quote": quote, "claim": quote, "topics": [n]}
                for quote, said in _FACT.findall(text)
                for n, matter in enumerate(wanted, 1)
                if matter.lower() == said
            ]
        return {"evidence": found}

    done = assessment(["x"])
    judged = {name: done[name] for name in ("covered", "score", "gaps", "gap_queries", "quality")}
    model.script("PlanAnswer", plan)
    model.script("ReadingAnswer", read)
    model.script("LedgerAnswer", judged)
    model.script("ReflectionAnswer", {"enough": True, "missing": "", "query": ""})
    model.script("OpinionAnswer", {"verdict": "Fine.", "strengths": [], "weaknesses": []})
    model.script("OutlineAnswer", outline)
