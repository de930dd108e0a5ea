"""How many of the pages that hold the answer a whole run reads, without a model: `python
benchmarks/recall.py DATA SET… [--pages N]`.

DATA is a folder with `web/sites/<site>/…` and `eval/dev/<set>.jsonl`, whose lines have `question`
and `gold_urls`; all sites are one library, or with `--web PORT` a small web of as many addresses.

The sets that the figures in README.md are of: wiki2, mtrag_first_turn (20 pages), deepscholar (40
pages). Nothing is kept from one question or run to the next, neither pages nor results of searches:
else the second run would not do what the first did.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recall_web import small_web

from spadework.sessions.research import research
from spadework.settings import Settings


async def main(asked: argparse.Namespace, searching: dict[str, Any]) -> None:
    """Ask every question of every set, and print recall, the share of questions with all pages, and
    seconds a question.
    """
    settings = Settings.load(
        home=asked.home, pages=asked.pages, search_cache_mb=0, knowledge=False, **searching
    )
    for name in asked.sets:
        lines = (
            (asked.data / "eval" / "dev" / f"{name}.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()[: asked.first]
        )
        began, shares, read = time.perf_counter(), [], 0
        for line in lines:
            row = json.loads(line)
            result = await research(row["question"], settings)
            found = [urlsplit(source.url).path for source in result.sources]
            gold = {urlsplit(url).path for url in row["gold_urls"]}
            shares.append(
                sum(any(path.endswith(wanted) for path in found) for wanted in gold) / len(gold)
            )
            read += len(result.sources)
        every, seconds = sum(share == 1 for share in shares), time.perf_counter() - began
        print(
            f"{name}: recall {sum(shares) / len(shares):.3f}, all pages {every / len(shares):.3f}, "
            f"{read / len(shares):.1f} pages and {seconds / len(shares):.1f} s a question"
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
    options = parser.parse_args()
    sites = sorted(
        folder for folder in (options.data / "web" / "sites").iterdir() if folder.is_dir()
    )
    with (
        small_web(sites, options.home, options.web)
        if options.web
        else nullcontext({"search": "library", "library": sites}) as found
    ):
        asyncio.run(main(options, found))
