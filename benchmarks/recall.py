"""How many of the pages that hold the answer a whole run reads, without a model: `python benchmarks/recall.py DATA SET… [--pages N]`.

DATA is a folder with `web/sites/<site>/…` and `eval/dev/<set>.jsonl`, whose lines have `question` and `gold_urls`; all sites are one
library. The sets that the figures in README.md are of: wiki2, mtrag_first_turn (20 pages), deepscholar (40 pages).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from urllib.parse import urlsplit

from spadework.sessions.research import research
from spadework.settings import Settings


async def main(data: Path, sets: list[str], pages: int, home: Path) -> None:
    """Ask every question of every set, and print recall, the share of questions with all pages, and seconds a question."""
    sites = tuple(sorted(folder for folder in (data / "web" / "sites").iterdir() if folder.is_dir()))
    settings = Settings.load(home=home, search="library", library=sites, pages=pages)
    for name in sets:
        lines = (data / "eval" / "dev" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        began, shares, read = time.perf_counter(), [], 0
        for line in lines:
            row = json.loads(line)
            result = await research(row["question"], settings)
            found = {_path(source.url) for source in result.sources}
            gold = {_path(url) for url in row["gold_urls"]}
            shares.append(len(gold & found) / len(gold))
            read += len(result.sources)
        every, seconds = sum(share == 1 for share in shares), time.perf_counter() - began
        print(
            f"{name}: recall {sum(shares) / len(shares):.3f}, all pages {every / len(shares):.3f}, "
            f"{read / len(shares):.1f} pages and {seconds / len(shares):.1f} s a question"
        )


def _path(url: str) -> str:
    """An address without its host or its collection: `wiki/X.html`."""
    return urlsplit(url).path.strip("/")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--home", type=Path, default=Path("build/recall"))
    asked = parser.parse_args()
    asyncio.run(main(asked.data, asked.sets, asked.pages, asked.home))
