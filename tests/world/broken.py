"""The site `broken`: answers that break HTTP, written byte by byte."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable

from tests.world.background import Conversation
from tests.world.record import Asked

_PAGE = (
    b"<title>Half a page</title><article><h1>Half a page</h1><p>The harbour office closes at six,"
    b" except on</p></article>"
)

#: What is sent for a path before the connection is closed.
ANSWERS: dict[str, bytes] = {
    "/robots.txt": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "/short": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n" + _PAGE,
    "/cut-chunk": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n200\r\n"
        + _PAGE
    ),
    "/garbage": b"\x00\x01\x02 this is not HTTP\r\n\r\n",
    "/headers": b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 2_000_000 + b"\r\n\r\n",
    "/half-headers": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Cut: of",
    "/old": b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + _PAGE,
}


def site(note: Callable[[Asked], None]) -> Conversation:
    """The conversation of this site; every request is given to `note`.

    Besides the paths of ANSWERS: `/reset` resets the connection, `/closed` closes it without a
    word.
    """

    async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            record = await _read(reader)
            note(record)
            await _answer(record, writer)
            record.end()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client left first, which is its right
        finally:
            writer.close()

    return conversation


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    path, _, query = target.partition("?")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    return Asked("broken", method, path, query, headers)


async def _answer(record: Asked, writer: asyncio.StreamWriter) -> None:
    if record.path == "/reset":
        # A linger time of zero makes the system send a reset instead of a farewell.
        writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        return
    answer = ANSWERS.get(record.path, b"")
    writer.write(answer)
    record.sent = len(answer)
    await writer.drain()
