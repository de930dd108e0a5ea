"""What pages are kept for later runs by, when a run ends."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from spadework.graph.parts import PageCache
from spadework.settings import Settings
from spadework.tools.knowledge import knowledge_of
from spadework.tools.knowledge.entry import Recalled
from spadework.tools.ranking.embedder import meaning_of
from spadework.values import Page

TEXT = "The ferry of Port Aldermere leaves the old pier at every full hour. " * 20


async def test_who_is_cancelled_while_pages_are_kept_leaves_no_connection(tmp_path: Path):
    asked, left = asyncio.Event(), asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        while await reader.read(65_536):
            pass
        left.set()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        settings = Settings.load(
            home=tmp_path, embeddings="m", embeddings_url=f"http://{host}:{port}/v1"
        )
        meaning = meaning_of(settings)
        page_cache = PageCache(knowledge_of(settings, meaning), settings, lambda: 60.0, meaning)
        page = Page(
            url="https://ferry.example/hours",
            fetched_at=datetime.now(UTC),
            content_hash="a",
            chars=len(TEXT),
        )
        page_cache.keep([page], text_of=_text)
        closing = asyncio.create_task(page_cache.close())
        await asyncio.wait_for(asked.wait(), 10)
        closing.cancel()
        await asyncio.wait({closing}, timeout=10)
        assert closing.cancelled()
        await asyncio.wait_for(left.wait(), 5)


async def test_a_store_that_is_silent_is_not_waited_for_longer_than_there_is_time(tmp_path: Path):
    settings = Settings.load(home=tmp_path)
    page_cache = PageCache(Silent(), settings, lambda: 0.2)
    async with asyncio.timeout(2):
        assert await page_cache.search("ferry", limit=5, since=datetime.now(UTC)) == []
    assert page_cache.problem
    assert page_cache.problem.reason == "The knowledge store did not answer within 0.2 s."


class Silent:
    """A store that never answers."""

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        await asyncio.Event().wait()
        raise AssertionError


async def _text(content_hash: str) -> str:
    return TEXT
