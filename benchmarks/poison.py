"""Whether what earlier runs have read changes what a run reads: `python benchmarks/poison.py DATA
[--port PORT] [--questions N] [--sweep]`.

DATA is the folder that `answers.py` takes; its pages are a small web on loopback, each site at an
address of its own. Questions of `answers.py` about manuals are asked with a store of 1,000 pages
that are no manuals, and the other way round; each with an empty store, with the unrelated one and
with one of 1,000 pages of the sites that it is about, the right ones among them. Every question
finds its store as if nothing had been asked before.

`--sweep` asks the stores alone, all questions of both halves: by the share from which on a page
counts as being about a question, for how many questions an unrelated page does, and for which share
of them a right one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from answers import left_out, questions
from answers_web import english
from recall_web import small_web

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.extract import read_document
from spadework.tools.knowledge import Entry
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from spadework.tools.knowledge.entry import LEAST_CHARS, subject
from spadework.tools.text.page_text import content_hash
from spadework.values import Page, Result

Row = dict[str, Any]

#: Sites that are manuals; the others are encyclopaedia, papers, forums and pages of all kinds.
MANUALS = frozenset(("apache", "debian", "django", "git", "postgresql", "python", "sqlite"))
#: Pages of a store, and its room.
PAGES, MOST_BYTES = 1_000, 10**10
STORES = ("empty", "unrelated", "right")
STEPS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


class Site(NamedTuple):
    """A folder of pages and its address on loopback."""

    folder: Path
    address: str

    def url(self, page: Path) -> str:
        """Where a page of it is found."""
        return f"{self.address}/{quote(page.relative_to(self.folder).as_posix())}"


def gold(row: Row, sites: Sequence[Site]) -> set[str]:
    """The addresses of the pages that answer a question."""
    names = [page.removeprefix("web/sites/").partition("/") for page in row["pages"]]
    folders = {site.folder.name: site for site in sites}
    ends = {name: ".html" if name == "webdev" else "" for name, _, _ in names}
    return {
        folders[name].url(folders[name].folder / f"{page}{ends[name]}") for name, _, page in names
    }


def about_manuals(row: Row) -> bool:
    """Whether a question is about a manual."""
    return row["pages"][0].split("/")[2] in MANUALS


def asked(half: str, most: int) -> list[Row]:
    """As many questions about manuals as about other pages."""
    rows = [row for row in questions(half, languages=False) if row["answerable"]]
    groups = [[row for row in rows if about_manuals(row) is manual] for manual in (True, False)]
    return [
        row for group in groups for row in group[:: max(1, len(group) // (most // 2))][: most // 2]
    ]


def entries(sites: Sequence[Site], wanted: set[str], skip: set[str]) -> Iterator[Entry]:
    """The pages `wanted`, and others of the sites, each site in its turn, as they come by lot."""
    chance = random.Random(1)
    left = []
    for site in sites:
        pages = sorted(page for page in site.folder.rglob("*.html") if page.is_file())
        yield from (
            made for page in pages if site.url(page) in wanted if (made := _entry(site, page))
        )
        chance.shuffle(pages)
        left.append([(site, page) for page in pages if site.url(page) not in wanted | skip])
    while any(left):
        for pages in filter(None, left):
            if made := _entry(*pages.pop()):
                yield made


def _entry(site: Site, page: Path) -> Entry | None:
    url = site.url(page)
    read = read_document(page.read_bytes(), media_type="text/html", url=url)
    if len(read.markdown) < LEAST_CHARS:
        return None
    known = Page(
        url=url,
        title=read.title,
        fetched_at=datetime.now(UTC),
        content_hash=content_hash(read.markdown),
        chars=len(read.markdown),
    )
    return Entry(known, read.markdown, own=True)


async def filled(folder: Path, pages: Iterator[Entry]) -> None:
    """A store of the first pages."""
    kept = [made for made, _ in zip(pages, range(PAGES), strict=False)]
    await EmbeddedKnowledge(folder, MOST_BYTES).add(kept)


def stores(sites: Sequence[Site], rows: Sequence[Row], work: Path) -> None:
    """The two pairs of stores in `work`, named by whether they are for manuals and by what they
    hold; made once.
    """
    right = set[str]().union(*(gold(row, sites) for row in rows))
    for manual in (True, False):
        own = [site for site in sites if (site.folder.name in MANUALS) is manual]
        other = [site for site in sites if site not in own]
        made = {"unrelated": entries(other, set(), right), "right": entries(own, right, set())}
        for name, pages in made.items():
            if not (folder := work / f"{manual}-{name}").exists():
                asyncio.run(filled(folder, pages))


async def read(row: Row, store: str, work: Path, searching: dict[str, Any]) -> Result:
    """A question asked with a store as it was made."""
    home = work / "home"
    shutil.rmtree(home / "knowledge", ignore_errors=True)
    if store != "empty":
        shutil.copytree(work / f"{about_manuals(row)}-{store}", home / "knowledge")
    run = Settings.load(home=home, cache_mb=0, **searching)
    return await research(row["question"], run)


async def compare(
    rows: Sequence[Row], sites: Sequence[Site], work: Path, searching: dict[str, Any]
) -> str:
    """The table of the three stores."""
    told: dict[str, list[tuple[bool, float, float, float, float]]] = {name: [] for name in STORES}
    for row in rows:
        alone: set[str] = set()
        for store in STORES:
            result = await read(row, store, work, searching)
            urls = {source.url for source in result.sources}
            alone = urls if store == "empty" else alone
            wanted, usage = gold(row, sites), result.usage
            if urls != alone:
                print(f"{row['id']} {store}: {_paths(urls - alone)} for {_paths(alone - urls)}")
            known = sum(source.known for source in result.sources)
            told[store].append(
                (
                    urls == alone,
                    len(wanted & urls) / len(wanted),
                    known,
                    usage.fetches,
                    usage.searches,
                )
            )
    lines = [
        f"| {len(rows)} questions | same pages | right pages read | known | fetched | searches |"
    ]
    for store in STORES:
        same, right, *figures = (sum(each) for each in zip(*told[store], strict=True))
        shown = " | ".join(f"{figure / len(rows):.1f}" for figure in figures)
        lines.append(f"| {store} | {same} | {right / len(rows):.3f} | {shown} |")
    return "\n".join(lines)


def _paths(urls: set[str]) -> list[str]:
    return sorted(urlsplit(url).path for url in urls)


async def sweep(rows: Sequence[Row], sites: Sequence[Site], work: Path) -> str:
    """The table of the steps."""
    shares: dict[str, list[tuple[float, float]]] = {"dev": [], "test": []}
    since = datetime.now(UTC) - timedelta(days=1)
    for row in rows:
        best = []
        for store, wanted in (("unrelated", None), ("right", gold(row, sites))):
            place = EmbeddedKnowledge(work / f"{about_manuals(row)}-{store}", MOST_BYTES)
            found = await place.search(subject(row["question"]), limit=15, since=since)
            kept = [one.share for one in found if wanted is None or one.entry.page.url in wanted]
            best.append(max(kept, default=0.0))
        shares[row["half"]].append((best[0], best[1]))
    lines = ["| from | dev: unrelated | dev: right | test: unrelated | test: right |"]
    for step in STEPS:
        cells = [
            f"{sum(un >= step for un, _ in found)} of {len(found)} | "
            f"{sum(right >= step for _, right in found) / len(found):.2f}"
            for found in shares.values()
        ]
        lines.append(f"| {step} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--port", type=int, default=8790)
    parser.add_argument("--half", choices=("dev", "test"), default="test")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--sweep", action="store_true", help="ask the stores alone")
    parser.add_argument("--work", type=Path, default=Path("build/poison"))
    options = parser.parse_args()
    folders = [each.resolve() for each in english(options.data, options.work / "pages", left_out())]
    sites = [
        Site(folder, f"http://127.0.1.{n}:{options.port}") for n, folder in enumerate(folders, 1)
    ]
    every = [row for row in questions("all", languages=False) if row["answerable"]]
    stores(sites, every, options.work)
    if options.sweep:
        print(asyncio.run(sweep(every, sites, options.work)))
        return
    rows = asked(options.half, options.questions)
    with small_web(folders, options.work / "home", options.port) as searching:
        print(asyncio.run(compare(rows, sites, options.work, searching)))


if __name__ == "__main__":
    main()
