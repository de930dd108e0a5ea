"""SearXNG's answers become hits, and its failures errors of one sentence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.tools.search.web_services import SearXNG, searxng_hits
from spadework.values import Freshness, Hit, Query
from tests.world.searx import Fault, Searx
from tests.world.sites import World

ASKED = Query(text="census Port Aldermere")


async def ask(url: str, limit: int = 15, seconds: float = 5.0) -> list[Hit]:
    return await SearXNG(url).search(ASKED, limit=limit, seconds=seconds)


@asynccontextmanager
async def raw_server(answer: bytes) -> AsyncIterator[str]:
    """A server that reads a request and sends these bytes, whatever they are."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_results_are_hits_in_their_order(searx: Searx, world: World):
    found = await ask(searx.url)
    assert 3 < len(found) <= 15
    assert [hit.position for hit in found] == list(range(1, len(found) + 1))
    assert {(hit.provider, hit.query) for hit in found} == {("searxng", ASKED.text)}
    assert found[0].url == world.url("news", "/2026/census")
    assert found[0].title.startswith("Census: Port Aldermere")
    assert "Aldermere" in found[0].snippet
    assert found[0].published_at
    assert found[0].published_at.year == 2026
    assert found[0].published_at.tzinfo
    assert any(hit.published_at is None for hit in found)
    assert [record.args for record in searx.requests] == [{"q": ASKED.text, "format": "json"}]


@pytest.mark.parametrize(
    ("freshness", "asked"),
    [
        ("now", {"time_range": "month", "categories": "general,news"}),
        ("recent", {"time_range": "year"}),
        ("any", {}),
    ],
)
async def test_how_recent_pages_should_be_and_from_where_is_asked(
    searx: Searx, freshness: Freshness, asked: dict[str, str]
):
    await SearXNG(searx.url).search(
        Query(text="census", freshness=freshness, exclude_domains=("b.example",)),
        limit=5,
        seconds=5,
    )
    assert searx.requests[0].args == {"q": "census -site:b.example", "format": "json", **asked}


async def test_a_limit_is_kept(searx: Searx):
    assert len(await ask(searx.url, limit=2)) == 2


async def test_nothing_found_is_no_failure(searx: Searx):
    searx.script("census", [])
    assert await ask(searx.url) == []


@pytest.mark.parametrize(
    "url", [str.upper, "{}/".format, "{}/search".format, " {}/search/ ".format]
)
async def test_the_address_may_be_written_in_many_ways(searx: Searx, url: Callable[[str], str]):
    assert await ask(url(searx.url) if url is not str.upper else searx.url.replace("http", "HTTP"))


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://x/", "/search"])
def test_an_address_that_is_none_is_a_settings_error(url: str):
    with pytest.raises(SettingsError, match="must be an http:// or https:// URL"):
        SearXNG(url)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("forbidden", "add json to search.formats in its settings.yml"),
        ("error", "answered with status 500"),
        ("html", r"did not return complete JSON \(text/html\)"),
        ("truncated", r"did not return complete JSON \(application/json\)"),
        (
            "unresponsive",
            (
                r"None of SearXNG's engines answered: brave \(timeout\), duckduckgo \(CAPTCHA\),"
                r" google \(Suspended"
            ),
        ),
    ],
)
async def test_a_failure_says_what_failed(searx: Searx, fault: Fault, words: str):
    searx.fail(fault)
    with pytest.raises(SearchError, match=words):
        await ask(searx.url)


async def test_too_many_requests_are_a_spent_quota(searx: Searx):
    searx.fail("limited")
    with pytest.raises(QuotaSpent):
        await ask(searx.url)


@pytest.mark.timed
async def test_a_silent_server_is_left_at_the_deadline(searx: Searx):
    searx.fail("hang")
    before = time.monotonic()
    with pytest.raises(SearchError, match=r"did not answer within 0\.3 s"):
        await ask(searx.url, seconds=0.3)
    assert time.monotonic() - before < 1


async def test_a_server_that_is_not_there_is_an_error():
    async with raw_server(b"") as url:
        pass
    with pytest.raises(SearchError, match="could not be queried"):
        await ask(url)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not http at all\r\n\r\n",
        b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"results": [',
        b"HTTP/1.1 302 Found\r\nlocation: http://[/\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: ftp://x/\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xfe",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
async def test_a_broken_answer_is_an_error(answer: bytes):
    async with raw_server(answer) as url:
        with pytest.raises(SearchError) as caught:
            await ask(url)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_dates_come_with_a_time_zone():
    dates = ["2026-02-03T04:05:06", "2026-02-03T04:05:06Z", "2026-02-03", None, "yesterday", 5]
    answer = {
        "number_of_results": 0,
        "results": [{"url": "http://x.org/", "publishedDate": date} for date in dates],
    }
    day = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert [hit.published_at for hit in searxng_hits(answer, ASKED, 9)] == [
        day,
        day,
        datetime(2026, 2, 3, tzinfo=UTC),
        None,
        None,
        None,
    ]


def test_results_that_are_no_pages_are_left_out():
    answer = {
        "results": [
            {"url": "magnet:?x"},
            {"title": "no url"},
            None,
            "text",
            {"url": None},
            {"url": "https://x.org/", "title": None},
        ]
    }
    assert [(hit.url, hit.position, hit.title) for hit in searxng_hits(answer, ASKED, 9)] == [
        ("https://x.org/", 1, "")
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(
    st.fixed_dictionaries({"results": st.just([]) | _JSON, "unresponsive_engines": _JSON}) | _JSON
)
def test_any_json_gives_hits_or_a_search_error(answer: object):
    with suppress(SearchError):
        assert all(isinstance(hit, Hit) for hit in searxng_hits(answer, ASKED, 5))
