"""A provider that fails takes no other with it, and is left alone for a while when it goes on
failing.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from spadework.errors import SearchError
from spadework.tools.search.failover import FAILURES, PAUSE_SECONDS, Search
from spadework.tools.search.web_services import SearXNG
from spadework.values import Hit, Query
from tests.tools.search.asking import ask_all
from tests.world.searx import Searx

ASKED = Query(text="census Port Aldermere")


class Second(SearXNG):
    """The same server under another name."""

    name = "second"


class Endless:
    """A provider that breaks its promise to end in time."""

    name = "endless"
    describes = "nothing"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        await asyncio.Event().wait()
        return []


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def outcome(search: Search) -> list[tuple[str, str]]:
    answers = await ask_all(search, ASKED, limit=3, seconds=5)
    return [
        (name, str(answer) if isinstance(answer, SearchError) else "hits")
        for name, answer in answers
    ]


async def test_one_that_fails_is_an_error_beside_the_hits_of_the_others(searx: Searx):
    searx.fail("error", times=1)
    search = Search([SearXNG(searx.url), Second(searx.url)])
    answers = await ask_all(search, ASKED, limit=3, seconds=5)
    assert [name for name, _ in answers] == ["searxng", "second"]
    assert {type(answer) for _, answer in answers} == {SearchError, list}


async def test_after_failures_in_a_row_a_provider_is_left_out_for_a_while(searx: Searx):
    clock = Clock()
    search = Search([SearXNG(searx.url)], clock=clock)
    searx.fail("error")
    for _ in range(FAILURES):
        assert await outcome(search) == [("searxng", "SearXNG answered with status 500.")]
    assert await outcome(search) == [
        ("searxng", "searxng is skipped for 60 s after 3 failures in a row.")
    ]
    assert len(searx.queries) == FAILURES

    clock.now += PAUSE_SECONDS
    assert await outcome(search) == [("searxng", "SearXNG answered with status 500.")]
    assert (await outcome(search))[0][1].startswith("searxng is skipped")

    clock.now += PAUSE_SECONDS
    searx.reset()
    assert await outcome(search) == [("searxng", "hits")]
    searx.fail("error", times=FAILURES - 1)
    assert [(await outcome(search))[0][1] for _ in range(FAILURES)][-1] == "hits"


async def test_a_success_forgets_the_failures_before(searx: Searx):
    search = Search([SearXNG(searx.url)])
    for _ in range(3):
        searx.fail("error", times=FAILURES - 1)
        for _ in range(FAILURES):
            await outcome(search)
    assert await outcome(search) == [("searxng", "hits")]


async def test_asking_one_provider_raises_what_went_wrong(searx: Searx):
    provider = SearXNG(searx.url)
    search = Search([provider])
    assert await search.ask(provider, ASKED, limit=3, seconds=5)
    searx.fail("error")
    for words in (*["status 500"] * FAILURES, "skipped", "skipped"):
        with pytest.raises(SearchError, match=words):
            await search.ask(provider, ASKED, limit=3, seconds=5)


@pytest.mark.timed
async def test_a_provider_that_does_not_end_is_cut_off(searx: Searx):
    before = time.monotonic()
    search = Search([Endless(), SearXNG(searx.url)])
    answers = dict(await ask_all(search, ASKED, limit=3, seconds=0.2))
    assert str(answers["endless"]) == "endless did not answer within 0.2 s."
    assert isinstance(answers["searxng"], list)
    assert time.monotonic() - before < 2


async def test_without_time_nobody_is_asked_and_no_pace_is_blamed(searx: Searx):
    search = Search([SearXNG(searx.url)])
    [(_, answer)] = await ask_all(search, ASKED, limit=3, seconds=0)
    assert str(answer) == "searxng was not queried because there was no time left."
    assert not searx.queries
    assert not search.waits.news()
