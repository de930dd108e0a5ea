"""Results are kept for other sessions for as long as their freshness allows, and whatever becomes
of the file, searching goes on.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from spadework.errors import SearchError
from spadework.settings import Settings
from spadework.tools.search.failover import Search, SearchCache
from spadework.tools.search.provider_choice import choose
from spadework.values import Hit, Query
from tests.tools.search.asking import ask_all
from tests.tools.search.services import KEY
from tests.world.searx import Searx

ASKED = Query(text="census Port Aldermere")
HITS = [Hit(url="https://a.example/1", title="One", provider="brave", query=ASKED.text)]
DAY = 86_400.0


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def cache(folder: Path, clock: Clock, *, most: int = 1_000_000, scope: str = "") -> SearchCache:
    return SearchCache(
        folder / "cache" / "searches.sqlite",
        most,
        {"any": 7 * DAY, "recent": DAY / 2, "now": 900},
        scope,
        clock,
    )


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        (ASKED, 7 * DAY),
        (ASKED.model_copy(update={"freshness": "recent"}), DAY / 2),
        (ASKED.model_copy(update={"freshness": "now"}), 900),
        (Query(text="latest news of Port Aldermere"), 900),
    ],
)
async def test_results_are_kept_for_as_long_as_they_are_fresh(
    tmp_path: Path, query: Query, seconds: float
):
    clock = Clock()
    kept = cache(tmp_path, clock)
    await kept.put("brave", query, 15, HITS)
    clock.now += seconds - 1
    assert await kept.get("brave", query, 15) == HITS
    clock.now += 2
    assert await kept.get("brave", query, 15) is None


async def test_an_empty_answer_is_kept_shortly(tmp_path: Path):
    clock = Clock()
    kept = cache(tmp_path, clock)
    await kept.put("brave", ASKED, 15, [])
    assert await kept.get("brave", ASKED, 15) == []
    clock.now += 901
    assert await kept.get("brave", ASKED, 15) is None


async def test_another_question_is_another_entry(tmp_path: Path):
    kept = cache(tmp_path, Clock())
    await kept.put("brave", ASKED, 15, HITS)
    assert (
        await kept.get("brave", ASKED.model_copy(update={"kind": "gap", "results": 3}), 15) == HITS
    )
    for other in (
        {"text": "x"},
        {"freshness": "recent"},
        {"include_domains": ("a.example",)},
        {"exclude_domains": ("a.example",)},
    ):
        assert await kept.get("brave", ASKED.model_copy(update=other), 15) is None
    assert await kept.get("serper", ASKED, 15) is None
    assert await kept.get("brave", ASKED, 5) is None
    assert await cache(tmp_path, Clock(), scope="another server").get("brave", ASKED, 15) is None


async def test_a_clock_that_went_back_gives_nothing_of_the_future(tmp_path: Path):
    clock = Clock()
    kept = cache(tmp_path, clock)
    await kept.put("brave", ASKED, 15, HITS)
    clock.now -= DAY
    assert await kept.get("brave", ASKED, 15) is None


async def test_the_file_stays_within_its_size_and_the_oldest_go_first(tmp_path: Path):
    clock = Clock()
    kept = cache(tmp_path, clock, most=300_000)
    big = [HITS[0].model_copy(update={"snippet": "x" * 9_000})]
    for n in range(60):
        clock.now += 1
        await kept.put("brave", Query(text=f"q{n}"), 15, big)
    assert await kept.get("brave", Query(text="q59"), 15) == big
    assert await kept.get("brave", Query(text="q0"), 15) is None
    assert (tmp_path / "cache" / "searches.sqlite").stat().st_size <= 400_000


async def test_a_file_that_is_none_is_begun_anew(tmp_path: Path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "searches.sqlite").write_bytes(b"no database" * 500)
    kept = cache(tmp_path, Clock())
    assert await kept.get("brave", ASKED, 15) is None
    await kept.put("brave", ASKED, 15, HITS)
    assert await kept.get("brave", ASKED, 15) == HITS


async def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    kept = cache(tmp_path, Clock())
    await kept.put("brave", ASKED, 15, HITS)
    assert await kept.get("brave", ASKED, 15) is None


async def test_no_size_keeps_nothing(tmp_path: Path):
    kept = cache(tmp_path, Clock(), most=0)
    await kept.put("brave", ASKED, 15, HITS)
    assert await kept.get("brave", ASKED, 15) is None
    assert not (tmp_path / "cache").exists()


_WRITER = """
import asyncio, sys
from pathlib import Path
from spadework.tools.search.failover import SearchCache
from spadework.values import Hit, Query
cache = SearchCache(Path(sys.argv[1]), 10_000_000, {"any": 9e9, "recent": 9e9, "now": 9e9})
async def main():
    n = 0
    while True:
        await cache.put("brave", Query(text=f"{sys.argv[2]} {n}"), 15, [Hit(url="https://a.example/", snippet="x" * 500)])
        print(n, flush=True)
        n += 1
asyncio.run(main())
"""  # noqa: E501


@pytest.mark.process
def test_processes_share_the_file_and_one_that_is_killed_loses_nothing_that_was_kept(
    tmp_path: Path,
):
    path = tmp_path / "cache" / "searches.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    last = []
    for writer in writers:
        assert writer.stdout
        for line in writer.stdout:
            if int(line) >= 20:
                break
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        out, _ = writer.communicate()
        last.append(max([int(word) for word in out.split()[:-1]] or [20]))
    kept = SearchCache(path, 10_000_000, {"any": 9e9, "recent": 9e9, "now": 9e9})
    for name, count in zip(("one", "two"), last, strict=True):
        for n in (0, 10, count):
            assert asyncio.run(kept.get("brave", Query(text=f"{name} {n}"), 15))


async def opened(settings: Settings) -> Search:
    async def no_library() -> object:
        raise AssertionError("the library was not asked for")

    return (await choose(settings, no_library)).search(settings)  # type: ignore[arg-type]


async def asked(search: Search) -> object:
    [(_, answer)] = await ask_all(search, ASKED, limit=5, seconds=5)
    return answer


async def test_another_session_takes_what_the_first_one_found(searx: Searx):
    settings = Settings.load(search="searxng", searxng_url=searx.url)
    first, second = [await asked(await opened(settings)) for _ in range(2)]
    assert first == second
    assert first
    assert len(searx.queries) == 1
    assert await asked(await opened(settings.with_(cache_mb=0))) == first
    assert len(searx.queries) == 2


@pytest.mark.parametrize("fault", ["unresponsive", "error", "html", "truncated", "forbidden"])
async def test_a_failure_is_never_kept(searx: Searx, fault: str):
    settings = Settings.load(search="searxng", searxng_url=searx.url)
    searx.fail(fault, times=1)  # type: ignore[arg-type]
    assert isinstance(await asked(await opened(settings)), SearchError)
    assert isinstance(await asked(await opened(settings)), list)


async def test_no_key_is_in_the_file(searx: Searx, tmp_path: Path):
    mcp = SecretStr(f"web_search @ https://search.example/mcp?key={KEY}")
    settings = Settings.load(
        search="searxng", searxng_url=searx.url, brave_api_key=KEY, mcp_search=mcp
    )
    await asked(await opened(settings))
    files = [path.read_bytes() for path in (settings.home / "cache").iterdir()]
    assert files
    assert not any(KEY.encode() in data for data in files)


async def test_many_at_once_are_all_kept(tmp_path: Path):
    kept = cache(tmp_path, Clock())
    queries = [Query(text=f"q{n}") for n in range(30)]
    await asyncio.gather(*(kept.put("brave", query, 15, HITS) for query in queries))
    assert await asyncio.gather(*(kept.get("brave", query, 15) for query in queries)) == [HITS] * 30
