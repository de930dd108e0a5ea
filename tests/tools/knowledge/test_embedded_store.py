"""The embedded store on disk: its size, its words, its neighbours in other processes, and processes
that are killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from spadework.errors import KnowledgeError
from spadework.tools.knowledge import Which, embedded_store as catalogue
from spadework.tools.knowledge.embedded_store import MOST_REMOVED, EmbeddedKnowledge
from tests.tools.knowledge.pages import ALL, CENSUS, FERRY, LONG_AGO, entry


def numbered(n: int, words: int = 400) -> str:
    """A text that packs badly, about one thing."""
    return f"# Page {n}\n\nThe tide table number{n} of Port Aldermere. " + " ".join(
        f"w{(n * 7919 + k * 104729) % 999983}" for k in range(words)
    )


def size(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "pages.sqlite")) as db:
        return int(
            db.execute(
                "SELECT SUM(LENGTH(text) + LENGTH(CAST(record AS BLOB))) FROM pages"
            ).fetchone()[0]
        )


async def urls(store: EmbeddedKnowledge) -> set[str]:
    return {page.url async for page in store.pages(Which())}


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()]


def shelves(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("index-*")]


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


async def test_the_store_stays_within_its_size_and_what_was_used_least_recently_goes_first(
    tmp_path: Path,
) -> None:
    store = EmbeddedKnowledge(tmp_path, 40_000, Clock())
    pages = [entry(f"https://a.example/{n}", numbered(n)) for n in range(40)]
    await store.add(pages[:5])
    for one in pages[5:]:
        assert await store.find(pages[0].page.url)  # used again and again
        await store.add([one])
        assert size(tmp_path) <= 40_000
    left = await urls(store)
    newest = {one.page.url for one in pages[-(len(left) - 1) :]}
    assert left == newest | {pages[0].page.url}
    assert len(left) > 5
    assert await store.search("number7", limit=5, since=LONG_AGO) == []


async def test_a_page_that_is_larger_than_all_is_not_kept_and_displaces_nothing(
    tmp_path: Path,
) -> None:
    store = EmbeddedKnowledge(tmp_path, 5_000)
    assert await store.add([CENSUS, entry("https://big.example/", numbered(1, 5_000))]) == 1
    assert await urls(store) == {CENSUS.page.url}


async def test_no_word_of_what_was_forgotten_is_left_on_disk(tmp_path: Path) -> None:
    store = EmbeddedKnowledge(tmp_path, 10_000_000)
    await store.add(
        [
            entry(
                "https://secret.example/xylographer",
                "The xylographer lives in the old mill. " * 9,
                title="Xylographer",
            ),
            *ALL,
        ]
    )
    assert await store.forget(Which(("secret.example",))) == 1
    files = contents(tmp_path)
    assert any(b"ferry" in data for data in files)
    assert not any(b"xylograph" in data for data in files)


async def test_the_index_is_made_anew_when_most_of_it_is_of_pages_that_are_gone(
    tmp_path: Path,
) -> None:
    store = EmbeddedKnowledge(tmp_path, 60_000, Clock())
    for n in range(0, MOST_REMOVED + 200, 100):
        await store.add([entry(f"https://a.example/{k}", numbered(k)) for k in range(n, n + 100)])
    [index] = shelves(tmp_path)
    assert index != "index-0"
    last = f"number{MOST_REMOVED + 199}"
    assert [one.entry.page.url for one in await store.search(last, limit=1, since=LONG_AGO)] == [
        f"https://a.example/{MOST_REMOVED + 199}"
    ]


def _no_index(folder: Path) -> None:
    for path in (folder / "index-0").iterdir():
        path.unlink()


def _damaged_index(folder: Path) -> None:
    (folder / "index-0" / "meta.json").write_text("{")


@pytest.mark.parametrize("break_it", [_no_index, _damaged_index])
async def test_an_index_that_is_lost_is_made_from_the_catalogue_by_the_next_who_writes(
    tmp_path: Path, break_it: Callable[[Path], None]
) -> None:
    await EmbeddedKnowledge(tmp_path, 10_000_000).add([CENSUS])
    break_it(tmp_path)
    store = EmbeddedKnowledge(tmp_path, 10_000_000)
    await store.add([FERRY])
    assert {
        one.entry.page.url for one in await store.search("Port Aldermere", limit=5, since=LONG_AGO)
    } == {CENSUS.page.url, FERRY.page.url}


async def test_a_store_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    store = EmbeddedKnowledge(tmp_path, 10_000_000)
    await store.add(ALL)
    with closing(sqlite3.connect(tmp_path / "pages.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(KnowledgeError, match="newer spadework"):
        await store.add(ALL)


async def test_a_store_that_cannot_be_written_says_so_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "knowledge").write_text("a file where the folder would be")
    with pytest.raises(
        KnowledgeError, match=r"^The knowledge store in .*knowledge cannot be used: File exists\.$"
    ):
        await EmbeddedKnowledge(tmp_path / "knowledge", 10_000_000).add(ALL)


async def test_who_makes_the_store_and_stops_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "BUSY_SECONDS", 0.1)
    async with asyncio.timeout(10):
        with FileLock(tmp_path / ".making"), pytest.raises(KnowledgeError, match="cannot be used"):
            await EmbeddedKnowledge(tmp_path, 10_000_000).add(ALL)


async def test_many_at_once_in_one_process_lose_nothing(tmp_path: Path) -> None:
    stores = [EmbeddedKnowledge(tmp_path, 10_000_000) for _ in range(6)]
    await asyncio.gather(
        *(
            store.add([entry(f"https://a.example/{n}", numbered(n))])
            for n, store in enumerate(stores)
        )
    )
    for n, store in enumerate(stores):
        assert [
            one.entry.page.url for one in await store.search(f"number{n}", limit=1, since=LONG_AGO)
        ] == [f"https://a.example/{n}"]


_WRITER = """
import asyncio, sys
from pathlib import Path
from spadework.tools.knowledge.embedded_store import EmbeddedKnowledge
from tests.tools.knowledge.pages import entry
from tests.tools.knowledge.test_embedded_store import numbered
async def main():
    store = EmbeddedKnowledge(Path(sys.argv[1]), 100_000_000)
    for n in range(int(sys.argv[2]), 10**9, 2):
        await store.add([entry(f"https://a.example/{n}", numbered(n))])
        print(n, flush=True)
asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.full
@pytest.mark.slow
def test_processes_share_the_store_and_one_that_is_killed_loses_nothing_that_was_kept(
    tmp_path: Path,
) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), str(start)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for start in (0, 1)
    ]
    last = []
    for writer in writers:
        assert writer.stdout
        for line in writer.stdout:
            if int(line) >= 8:
                break
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        out, _ = writer.communicate()
        last.append(max([int(word) for word in out.split()], default=8))
    store = EmbeddedKnowledge(tmp_path, 100_000_000)
    kept = asyncio.run(urls(store))
    assert {
        f"https://a.example/{n}"
        for start, end in zip((0, 1), last, strict=True)
        for n in range(start, end + 1, 2)
    } <= kept
    asyncio.run(store.add([CENSUS]))  # it goes on where the others were ended
    for url in kept:
        [one] = asyncio.run(
            store.search(f"number{url.rpartition('/')[2]}", limit=1, since=LONG_AGO)
        )
        assert one.entry.page.url == url
