"""What pages are kept for later runs by, when a run ends."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from spadework.graph.page_cache import PageCache
from spadework.settings import Settings
from spadework.tools.dense.meaning import meaning_of
from spadework.tools.knowledge import knowledge_of
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
        page_cache = PageCache(knowledge_of(settings, meaning), settings, meaning)
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


async def _text(content_hash: str) -> str:
    return TEXT
