"""Whether what a model is shown of the pages holds what was asked for: `python benchmarks/window.py
DATA [--half dev|test]`.

DATA is the folder that `answers.py` takes. For every question with a known answer the pages of the
library's first hits are cut and ranked as a run does; printed is, for several sizes of the window,
the share of the known facts that stand in it: of the best passages as they are stored, of these
without targets of links and scraps, of those near the best one, and of the whole sections around
them; with the tokens of a question.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from answers import left_out, over, questions
from answers_match import blocks, met
from answers_web import english
from window_sections import Stretch, scraps, windowed

from spadework.graph.nodes.distil import (
    FILL,
    FLOOR,
    MOST_OF_ONE,
    TOKEN_CHARS,
    Room,
    cuts_of,
    keep_near,
    rank_passages,
)
from spadework.tools.library.library import Library
from spadework.tools.text.markdown import blocks as blocks_of
from spadework.tools.text.page_text import PageText
from spadework.tools.text.passages import without_targets
from spadework.tools.text.sentences import tells
from spadework.tools.text.tokens import count
from spadework.values import Page, Passage, Query, Topic

Row = dict[str, Any]

#: Pages a question, tokens of a window, and characters of a passage.
PAGES, ROOMS, PASSAGE_CHARS = 10, (3_000, 6_000, 8_000, 12_000, 24_000), 1_500
#: Characters of a section that are compared.
SECTIONS = (0, 3_000, 6_000)
#: More characters than any window holds.
ALL_CHARS = 200_000


async def passages_of(row: Row, library: Library) -> tuple[list[Passage], dict[str, str]]:
    """The passages of a question, best first, and the texts they stand in."""
    texts, cuts = {}, []
    for rank, hit in enumerate(await library.search(row["question"], limit=PAGES)):
        document = await library.document(hit.url)
        texts[hit.url] = document.markdown
        page = Page(
            url=hit.url,
            title=document.title,
            fetched_at=document.changed_at,
            content_hash=hit.url,
            chars=len(document.markdown),
        )
        cuts += cuts_of(page, PageText(document.markdown), rank, PASSAGE_CHARS)
    question = row["question"]
    topic = Topic(name="asked", question=question, queries=(Query(text=question),))
    return rank_passages([topic], cuts, Room(ALL_CHARS, ALL_CHARS))["asked"], texts


def first_of(pieces: Sequence[str], costs: Sequence[int], room: int) -> Iterator[str]:
    """The first pieces for which there is room."""
    for piece, cost in zip(pieces, costs, strict=True):
        if cost <= room:
            room -= cost
            yield piece


def displayed(text: str) -> str:
    """A passage as it is shown."""
    found = blocks_of(text)
    said = [
        text[block.start : block.end]
        for block, scrap in zip(found, scraps(text, found), strict=True)
        if not scrap
    ]
    return without_targets("\n\n".join(said))


def variants(
    passages: Sequence[Passage], texts: dict[str, str]
) -> Iterator[tuple[str, int, list[str]]]:
    """What is shown by each way to choose it, in windows of each size."""
    stored = [texts[p.content_hash][p.start : p.end] for p in passages]
    places = [Stretch(p.content_hash, p.start, p.end) for p in passages]
    least = FLOOR * max((p.score for p in passages), default=0.0)
    near = [texts[p.content_hash][p.start : p.end] for p in passages if p.score >= least]
    told = [text for text in near if tells(text)]
    ways = {
        "passages": stored,
        "shown": [displayed(t) for t in stored],
        "near the best": near,
        "that tell": told,
    }
    for name, pieces in ways.items():
        costs = [count(piece) for piece in pieces]
        for room in ROOMS:
            yield name, room, list(first_of(pieces, costs, room))
    for room in ROOMS:
        short = [text for text in told if len(text) <= MOST_OF_ONE * room * TOKEN_CHARS]
        yield "and leave room", room, list(first_of(short, [count(text) for text in short], room))
        asked = Room(room * TOKEN_CHARS, ALL_CHARS, FLOOR, FILL * TOKEN_CHARS)
        most = MOST_OF_ONE * room * TOKEN_CHARS
        telling = [
            p for p, text in zip(passages, stored, strict=True) if len(text) <= most and tells(text)
        ]
        filled = [texts[p.content_hash][p.start : p.end] for p in keep_near(telling, asked)]
        yield "and fill", room, list(first_of(filled, [count(text) for text in filled], room))
    for most in SECTIONS:
        for room in ROOMS:
            made = windowed(places, texts, room, count, most)
            pieces = [without_targets(texts[s.content_hash][s.start : s.end]) for s in made]
            yield f"sections {most}", room, pieces


async def main(options: argparse.Namespace) -> None:
    """Print the table."""
    sites = english(options.data, options.work / "pages", left_out())
    settings = over([site.resolve() for site in sites], options.work / "home")
    library = await Library.open(settings.library, home=settings.home)
    told: dict[tuple[str, int], list[bool]] = {}
    tokens: dict[tuple[str, int], list[int]] = {}
    for row in questions(options.half, languages=False):
        if not row["answerable"]:
            continue
        passages, texts = await passages_of(row, library)
        read = blocks("\n\n".join(texts.values()))
        told.setdefault(("in the pages", 0), []).extend(met(fact, read) for fact in row["facts"])
        for name, room, shown in variants(passages, texts):
            found = blocks("\n\n".join(shown))
            tokens.setdefault((name, room), []).append(sum(map(count, shown)))
            told.setdefault((name, room), []).extend(met(fact, found) for fact in row["facts"])
    for (name, room), facts in told.items():
        cost = tokens.get((name, room), [0])
        share = f"{sum(facts) / len(facts):.3f} of {len(facts)}"
        print(f"{name:<16}{room:>7}  {share}  {sum(cost) / len(cost):>7,.0f} tokens")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("dev", "test", "all"), default="dev")
    parser.add_argument("--work", type=Path, default=Path("build/answers"))
    asyncio.run(main(parser.parse_args()))
