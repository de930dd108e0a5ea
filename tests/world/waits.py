"""Answers that take their time or never end: a late first byte, a body in drops, no answer, a body
without end, a broken line.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tests.world.reception import gone

_PARAGRAPH = (
    "<p>The tide tables of Port Aldermere were printed by hand until the winter of 1974.</p>\n"
)


class Silence(Response):
    """Accepts the request and never answers; it ends when the client leaves."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await gone(receive)


async def hang(request: Request) -> Response:
    """Never answers."""
    return Silence()


async def slow_start(request: Request) -> Response:
    """A page whose first byte comes after `?seconds=` (1)."""
    await asyncio.sleep(float(request.query_params.get("seconds", 1)))
    return HTMLResponse(
        "<title>Late tide tables</title><article><h1>Late tide"
        f" tables</h1>{_PARAGRAPH * 4}</article>"
    )


async def drip(request: Request) -> Response:
    """A page in `?drops=` (100) pieces, `?seconds=` (0.1) apart; the headers come at once."""
    seconds, drops = (
        float(request.query_params.get("seconds", 0.1)),
        int(request.query_params.get("drops", 100)),
    )

    async def body() -> AsyncIterator[str]:
        yield "<title>Dripping tide tables</title><article><h1>Dripping tide tables</h1>"
        for _ in range(drops):
            await asyncio.sleep(seconds)
            yield _PARAGRAPH

    return StreamingResponse(body(), media_type="text/html")


async def endless(request: Request) -> Response:
    """A body without end, in chunks of 64 kB."""
    chunk = _PARAGRAPH * (65_536 // len(_PARAGRAPH))

    async def body() -> AsyncIterator[str]:
        while True:
            yield chunk
            await asyncio.sleep(0)

    return StreamingResponse(body(), media_type="text/html")


class Broken(Response):
    """Sends `body` as the beginning of an answer, then breaks off the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"application/json")],
            }
        )
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        raise ConnectionAbortedError("the answer was to end here")


async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers any request with JSON that never comes to its first letter, a space at a time: no
    wait for the next byte is ever long.
    """
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    with suppress(ConnectionError):
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)
