"""How many of the pages that hold the answer a whole run reads, without a model: `python
benchmarks/recall.py DATA SET… [--pages N]`.

DATA is a folder with `web/sites/<site>/…` and `eval/dev/<set>.jsonl`, whose lines have `question`
and `gold_urls`; all sites are one library, or with `--web PORT` a small web of as many addresses.
`--without-bridges` takes out the rules by which a page leads on to others: what they bring.
`--with NAME=VALUE …` are settings that differ from those of a run as it is.

The sets that the figures in README.md are of: wiki2, mtrag_first_turn (20 pages), deepscholar (40
pages). Nothing is kept from one question or run to the next, neither pages nor results of searches:
else the second run would not do what the first did.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from recall_web import small_web

from spadework.agents.evidence.multi_hop import Trail
from spadework.agents.extractive import judge
from spadework.sessions.one_call import research
from spadework.settings import Settings

Row = dict[str, Any]
Figures = dict[str, float]


def questions(data: Path, name: str) -> list[Row]:
    """The questions of a set."""
    lines = (data / "eval" / "dev" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def library(data: Path) -> dict[str, Any]:
    """The settings by which all sites of DATA are one library."""
    sites = sorted(folder for folder in (data / "web" / "sites").iterdir() if folder.is_dir())
    return {"search": "library", "library": sites}


def settings(home: Path, pages: int, searching: dict[str, Any]) -> Settings:
    """The settings of a run in which nothing is kept for the next."""
    return Settings.load(home=home, pages=pages, cache_mb=0, knowledge=False, **searching)


async def figures(rows: Sequence[Row], run: Settings) -> Figures:
    """Ask every question: recall, the share of questions with all pages, pages and seconds a
    question.
    """
    began, shares, read = time.perf_counter(), [], 0
    for row in rows:
        result = await research(row["question"], run)
        found = [urlsplit(source.url).path for source in result.sources]
        gold = {urlsplit(url).path for url in row["gold_urls"]}
        shares.append(
            sum(any(path.endswith(wanted) for path in found) for wanted in gold) / len(gold)
        )
        read += len(result.sources)
    return {
        "recall": sum(shares) / len(shares),
        "all_pages": sum(share == 1 for share in shares) / len(shares),
        "pages": read / len(shares),
        "seconds": (time.perf_counter() - began) / len(shares),
    }


def multi_hops(*, left_out: bool) -> AbstractContextManager[object]:
    """The rules of bridges as they are, or none of them."""
    return patch.object(judge, "trail", lambda *_: Trail()) if left_out else nullcontext()


async def main(asked: argparse.Namespace, searching: dict[str, Any]) -> None:
    """Print the figures of every set."""
    searching = searching | dict(pair.split("=", 1) for pair in asked.changed)
    for name in asked.sets:
        rows = questions(asked.data, name)[: asked.first]
        told = await figures(rows, settings(asked.home, asked.pages, searching))
        print(
            f"{name}: recall {told['recall']:.3f}, all pages {told['all_pages']:.3f}, "
            f"{told['pages']:.1f} pages and {told['seconds']:.1f} s a question"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--first", type=int, help="only so many questions of each set")
    parser.add_argument("--home", type=Path, default=Path("build/recall"))
    parser.add_argument(
        "--web",
        type=int,
        metavar="PORT",
        help="search and read over loopback, with a SearXNG endpoint at PORT",
    )
    parser.add_argument("--without-bridges", action="store_true")
    parser.add_argument("--with", dest="changed", nargs="+", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    all_sites = library(options.data)
    with (
        multi_hops(left_out=options.without_bridges),
        small_web(all_sites["library"], options.home, options.web)
        if options.web
        else nullcontext(all_sites) as found,
    ):
        asyncio.run(main(options, found))
