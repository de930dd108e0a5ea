"""The contenders of `fetching.py`: each reads the pages BASE/0.html … and prints what it took as
JSON.

python benchmarks/fetching_contenders.py NAME BASE WARM_UP COUNT
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

import psutil

AT_ONCE = 10

#: Reads pages and gives the length of each one's Markdown, 0 for one that could not be read.
ReadAll = Callable[[Sequence[str]], Awaitable[list[int]]]


@asynccontextmanager
async def spadework() -> AsyncIterator[ReadAll]:
    """The pool, the client and the reader as a session uses them, with an empty cache."""
    from spadework.settings import Settings
    from spadework.tools.fetch.client import Web
    from spadework.tools.fetch.page_pool import Came, Limits, read_many
    from spadework.tools.fetch.page_reader import Reader

    settings = Settings(allow_hosts=("127.0.0.1",), parallel_per_host=AT_ONCE)
    async with Web(settings) as web:
        reader = Reader(web)

        async def read(url: str, seconds: float) -> tuple[str, int]:
            fetched, found = await reader.read(url, seconds=seconds)
            return fetched.url, len(found.markdown)

        async def read_all(urls: Sequence[str]) -> list[int]:
            until = asyncio.get_running_loop().time() + 600
            limits = Limits(
                len(urls), AT_ONCE, AT_ONCE, page_seconds=60, slow_seconds=60, until=until
            )
            reading = read_many(
                urls,
                read,
                limits,
                group=lambda url: "",
                key=lambda page: page[0],
                stop=asyncio.Event(),
            )
            async with aclosing(reading):
                return [outcome.result[1] async for outcome in reading if isinstance(outcome, Came)]

        yield read_all


@asynccontextmanager
async def httpx_and_trafilatura() -> AsyncIterator[ReadAll]:
    """An httpx client and trafilatura in threads."""
    import httpx
    import trafilatura

    def extract(html: str, url: str) -> int:
        found = trafilatura.extract(
            html, url=url, output_format="markdown", include_tables=True, include_formatting=True
        )
        return len(found or "")

    async with httpx.AsyncClient(timeout=60) as client:

        async def read(url: str) -> int:
            answer = await client.get(url)
            return await asyncio.to_thread(extract, answer.text, url)

        yield lambda urls: _at_once(read, urls)


@asynccontextmanager
async def crawl4ai() -> AsyncIterator[ReadAll]:
    """crawl4ai with its HTTP strategy and its Markdown, without its cache."""
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig, HTTPCrawlerConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    strategy = AsyncHTTPCrawlerStrategy(browser_config=HTTPCrawlerConfig(), max_connections=AT_ONCE)
    config = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False)
    async with AsyncWebCrawler(crawler_strategy=strategy, verbose=False) as crawler:

        async def read(url: str) -> int:
            done = await crawler.arun(url, config=config)
            return len(done.markdown.raw_markdown) if done.success else 0

        yield lambda urls: _at_once(read, urls)


async def _at_once(read: Callable[[str], Awaitable[int]], urls: Sequence[str]) -> list[int]:
    """Read all, AT_ONCE of them at a time."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(url: str) -> int:
        async with turns:
            return await read(url)

    return await asyncio.gather(*map(one, urls))


def cpu() -> float:
    """CPU seconds of this process and its children so far."""
    me = psutil.Process()
    return sum(
        sum(each.cpu_times()[:4] if each is me else each.cpu_times()[:2])
        for each in [me, *me.children(recursive=True)]
    )


async def main(name: str, base: str, warm_up: int, count: int) -> None:
    """Warm up, then read the pages and print the figures."""
    urls = [f"{base}/{n}.html" for n in range(warm_up + count)]
    contenders = {
        "spadework": spadework,
        "httpx + trafilatura": httpx_and_trafilatura,
        "crawl4ai": crawl4ai,
    }
    async with contenders[name]() as read_all:
        await read_all(urls[:warm_up])
        before, began = cpu(), time.perf_counter()
        found = [chars for chars in await read_all(urls[warm_up:]) if chars]
        figures = {
            "seconds": time.perf_counter() - began,
            "cpu": cpu() - before,
            "pages": len(found),
            "chars": sum(found),
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
