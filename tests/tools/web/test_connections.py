"""Connections whose TLS handshake is broken off: nothing of them stays open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from spadework.agents.llm.providers import chat_model
from spadework.settings import Settings
from spadework.tools.ranking.embedder import EndpointEmbedder
from spadework.tools.search.provider import Service


async def _searches(url: str) -> object:
    return await Service("Harbour", url).json("/", seconds=20)


async def _embeds(url: str) -> object:
    return await EndpointEmbedder("m", url).embed(["harbour"])


async def _asks(url: str) -> object:
    chat, _ = chat_model("m", Settings.load(openai_base_url=url, openai_api_key="none"))
    return await chat.ainvoke("harbour")


@pytest.mark.parametrize("asks", [_searches, _embeds, _asks])
async def test_a_server_that_is_silent_in_tls_is_left(asks: Callable[[str], Awaitable[object]]):
    came, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while await reader.read(65_536):  # the client's greeting, then its end
                came.set()
        writer.close()
        left.set()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        asking = asyncio.ensure_future(asks(url))
        await asyncio.wait_for(came.wait(), 20)
        asking.cancel()
        await asyncio.wait({asking})
        await asyncio.wait_for(left.wait(), 5)
