"""Odd and hostile files, as a server sends them: text or a sentence that says why there is none, in
time and in memory.
"""

from __future__ import annotations

import asyncio
import os
import random
import time

import psutil
import pytest

from spadework.errors import FetchError
from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.page_reader import Reader
from tests.thinned import thinned
from tests.tools.extract.odd import FILES, Odd

#: Seconds for a file, and bytes for whoever reads it.
SECONDS, MEMORY = 15.0, 400_000_000
SEED = int(os.environ.get("SPADEWORK_ODD_SEED", "1887"))
_TICK = 0.01


@pytest.mark.parametrize("name", thinned(FILES, 3))
async def test_an_odd_file_is_read_or_refused_in_a_sentence(name):
    odd = FILES[name](random.Random(f"{SEED} {name}"))
    began = time.monotonic()
    said, most = await read(odd)
    assert any(map(str.isalnum, said)), "neither text nor a reason"
    assert "crashed" not in said
    assert "failed (" not in said
    assert time.monotonic() - began < SECONDS
    assert most < MEMORY


async def read(odd: Odd) -> tuple[str, int]:
    """The text of a file, or the reason for none; and the most bytes that a reader of it had."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        robots = (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET /robots.txt")
        body, status = (b"", "404 X") if robots else (odd.body, "200 OK")
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
        typed = f"content-type: {odd.media_type}\r\n" if odd.media_type else ""
        writer.write(f"{head}{typed}\r\n".encode() + body)
        await writer.drain()
        writer.close()

    watching = asyncio.create_task(_watched())
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, Web(Settings(allow_hosts=("127.0.0.1",))) as web:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/{odd.name}"
        try:
            _, found = await Reader(web).read(url, seconds=SECONDS)
            said = found.markdown
        except FetchError as refusal:
            said = str(refusal)
    watching.cancel()
    return said, max(await asyncio.gather(watching, return_exceptions=True), key=int, default=0)


async def _watched() -> int:
    """The most memory of a process below this one, until it is cancelled."""
    most = 0
    me = psutil.Process()
    try:
        while True:
            for process in me.children(recursive=True):
                try:
                    most = max(most, process.memory_info().rss)
                except psutil.Error:
                    continue
            await asyncio.sleep(_TICK)
    except asyncio.CancelledError:
        return most
