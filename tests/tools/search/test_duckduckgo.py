"""DuckDuckGo is asked in a process of its own, which never outlives its search."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import AsyncIterator

import psutil
import pytest

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.search.duckduckgo import DuckDuckGo, hits
from spadework.values import Query
from tests.world.processes import children
from tests.world.timing import eventually

ASKED = Query(text="harbour of Port Aldermere")


class Proxy:
    """A proxy through which all of DuckDuckGo goes: it takes connections, and drops or holds
    them.
    """

    def __init__(self) -> None:
        self.hold = True
        self.taken = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        if self.hold:
            await reader.read()
        writer.close()


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    proxy = Proxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1")
    monkeypatch.setenv("DDGS_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with server:
        yield proxy


def searches() -> list[psutil.Process]:
    gc.collect()  # a transport that was left open warns here
    return children("spadework.tools.search.duckduckgo")


async def test_a_search_that_fails_says_so_and_leaves_no_process(proxy: Proxy):
    proxy.hold = False
    with pytest.raises(SearchError, match=r"^DuckDuckGo could not be [^\n]*\.$"):
        await DuckDuckGo().search(ASKED, limit=5, seconds=20)
    assert proxy.taken
    assert searches() == []


@pytest.mark.timed
async def test_a_search_that_hangs_is_killed_at_its_deadline(proxy: Proxy):
    before = time.monotonic()
    with pytest.raises(SearchError, match=r"did not answer within 1\.5 s"):
        await DuckDuckGo().search(ASKED, limit=5, seconds=1.5)
    assert time.monotonic() - before < 2.5
    assert searches() == []


async def test_a_deadline_before_the_process_is_up_is_kept_too(proxy: Proxy):
    with pytest.raises(SearchError, match="did not answer"):
        await DuckDuckGo().search(ASKED, limit=5, seconds=0.001)
    assert searches() == []


async def test_a_cancelled_search_leaves_no_process(proxy: Proxy):
    search = asyncio.create_task(DuckDuckGo().search(ASKED, limit=5, seconds=60))
    await eventually(lambda: proxy.taken)
    assert len(searches()) == 1
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert searches() == []


@pytest.mark.process
@pytest.mark.full
async def test_a_process_whose_parent_was_killed_ends_by_itself(proxy: Proxy):
    code = (
        "import asyncio; from spadework.tools.search.duckduckgo import DuckDuckGo; from"
        " spadework.values import Query\n"
    )
    code += "asyncio.run(DuckDuckGo().search(Query(text='x'), limit=5, seconds=8))"
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    await eventually(lambda: proxy.taken)
    (child,) = searches()
    os.kill(parent.pid, signal.SIGKILL)
    await parent.wait()
    await eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 30)


def test_news_have_dates():
    news = {
        "date": "2026-03-04T05:06:07+00:00",
        "title": "One",
        "body": "First",
        "url": "https://example.org/1",
        "source": "Herald",
    }
    (hit,) = hits({"results": [news]}, ASKED, 9)
    assert (hit.url, hit.published_at and hit.published_at.day) == ("https://example.org/1", 4)


def test_results_become_hits():
    results = [
        {"title": "One", "href": "https://example.org/1", "body": "First"},
        {"title": None, "href": "https://example.org/2"},
        {"title": "Advert", "href": "javascript:void(0)"},
        "nonsense",
        {"title": "Three", "href": "http://example.org/3", "body": "Third"},
    ]
    found = hits({"results": results}, ASKED, 9)
    assert [(hit.position, hit.url, hit.title, hit.snippet) for hit in found] == [
        (1, "https://example.org/1", "One", "First"),
        (2, "https://example.org/2", "", ""),
        (3, "http://example.org/3", "Three", "Third"),
    ]
    assert {(hit.provider, hit.query) for hit in found} == {("duckduckgo", ASKED.text)}
    assert len(hits({"results": results}, ASKED, 1)) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": "No results found."}, "returned no results; it may be limiting requests"),
        ({"error": "DNSError('…')"}, "could not be reached"),
        ({"error": "something odd"}, "could not be searched: something odd"),
        ({"results": None}, "was interrupted"),
        (None, "was interrupted"),
        ([], "was interrupted"),
    ],
)
def test_what_is_no_result_is_an_error(answer: object, words: str):
    with pytest.raises(SearchError, match=words):
        hits(answer, ASKED, 5)


def test_a_limit_of_requests_is_a_spent_quota():
    with pytest.raises(QuotaSpent):
        hits({"error": "RatelimitException: 202 Ratelimit"}, ASKED, 5)
