"""Connections that say nothing, half a request, or letters one by one are closed; who asks is
answered meanwhile, and a slow upload is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from spadework.apps.web import listener as listening
from spadework.apps.web.listener import PatientProtocol
from tests.apps.mcp.serving import until
from tests.world.background import listen

SECONDS = 0.5
HALF = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"


async def _echo(request: Request) -> PlainTextResponse:
    body = await request.body()
    await asyncio.sleep(0)
    return PlainTextResponse(str(len(body)))


@asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """The port of a server of little patience."""
    monkeypatch.setattr(listening, "REQUEST_SECONDS", SECONDS)
    app = Starlette(routes=[Route("/", _echo, methods=["GET", "POST"])])
    sock = listen("127.0.0.1")
    config = uvicorn.Config(app, http=PatientProtocol, log_config=None, timeout_keep_alive=60)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    await until(lambda: server.started)
    try:
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        await running


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HT", HALF, HALF + b"\r\n" + b"x" * 50],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
async def test_what_does_not_come_whole_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    async with serving(monkeypatch) as port, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()


async def test_letters_one_by_one_do_not_hold_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch) as port, asyncio.timeout(20):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(SECONDS / 10)


async def test_half_a_second_request_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch) as port, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n0")
        writer.write(HALF)
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()


async def test_a_large_body_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LEAST_BYTES", 1_000)
    async with serving(monkeypatch) as port, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000\r\n\r\n")
        for _ in range(20):
            writer.write(b"x" * 2_000)
            await writer.drain()
            await asyncio.sleep(SECONDS / 10)
        assert b"40000" in await reader.readuntil(b"40000")
        writer.close()
