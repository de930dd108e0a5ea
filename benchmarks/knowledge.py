"""How long the knowledge store takes to keep pages and to find them, and how much room it takes.

    python benchmarks/knowledge.py reading-web-dev.jsonl.xz --pages 900 5000

The file holds one JSON object a line with `title` and `main_content`; its pages come again under
other addresses where more are wanted. Seconds are CPU time of all threads, so that other work on
the machine does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spadework.tools.knowledge import Entry, Which
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.text.page_text import content_hash
from spadework.values import Page

#: Questions of four words that stand in one page, and pages of one run.
QUESTIONS, WORDS, RUN = 200, 4, 20


def entries(file: Path, count: int) -> list[Entry]:
    """So many pages of the file."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    made = []
    for n in range(count):
        row = rows[n % len(rows)]
        text = f"{row['main_content']}\n\nCopy {n}.\n"
        url = f"https://site{n}.example/{n}"
        page = Page(
            url=url,
            title=row["title"] or "",
            fetched_at=datetime.now(UTC),
            content_hash=content_hash(text),
            chars=len(text),
        )
        made.append(Entry(page, text))
    return made


def questions(pages: list[Entry]) -> list[str]:
    """Words of pages, the same in every run."""
    chance = random.Random(1)
    texts = [page.text.split() for page in pages]
    return [" ".join(chance.choices(chance.choice(texts), k=WORDS)) for _ in range(QUESTIONS)]


def taken(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def clock(times: list[float]) -> Iterator[None]:
    """Append the CPU seconds that the block takes."""
    before = time.process_time()
    yield
    times.append(time.process_time() - before)


async def measure(pages: list[Entry]) -> None:
    """Print the figures for so many pages."""
    filling, adding, finding, forgetting = ([] for _ in range(4))
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedKnowledge(Path(folder), 10_000_000_000)
        with clock(filling):
            await store.add(pages)
        newer = [
            Entry(entry.page.model_copy(update={"fetched_at": datetime.now(UTC)}), entry.text)
            for entry in pages[:RUN]
        ]
        with clock(adding):
            await store.add(newer)
        for question in questions(pages):
            with clock(finding):
                await store.search(question, limit=15, since=datetime.now(UTC) - timedelta(days=7))
        size = taken(Path(folder))
        with clock(forgetting):
            await store.forget(Which(("site3.example",)))
    chars = sum(len(page.text) for page in pages)
    print(f"{len(pages)} pages, {chars / 1e6:.1f} million characters: {size / 1e6:.1f} MB on disk")
    print(
        f"  kept in {filling[0]:.2f} s, {RUN} newer ones in {adding[0]:.2f} s, one forgotten in"
        f" {forgetting[0]:.2f} s"
    )
    worst = sorted(finding)[int(len(finding) * 0.95)]
    print(
        f"  a search {statistics.median(finding) * 1000:.0f} ms (median), {worst * 1000:.0f} ms"
        " (95 %)"
    )


def main() -> None:
    """Measure for every number of pages asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--pages", type=int, nargs="+", default=[900])
    arguments = parser.parse_args()
    for count in arguments.pages:
        asyncio.run(measure(entries(arguments.file, count)))


if __name__ == "__main__":
    main()
