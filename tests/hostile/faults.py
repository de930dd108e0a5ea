"""What a hostile server does to one request, by name. None of it ends by itself as long as the
client stays, unless it says so.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.world.odd import zeros

#: Between two bytes of what trickles, and between two pieces of what does not end, in seconds.
DROP, PIECE = 0.2, 0.02
_PARAGRAPH = b"<p>The ferry of Port Aldermere carries passengers, and passengers, and more.</p>\n"


@dataclass(frozen=True)
class Visit:
    """One request, read to its end. `honest` asks the server behind for its whole answer.

    `media_type`: what its answers are. `elsewhere`: addresses that lead nowhere good.
    """

    path: str
    media_type: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    honest: Callable[[], Awaitable[bytes]]
    elsewhere: tuple[str, ...]
    drawn: random.Random

    async def say(self, data: bytes) -> None:
        """Send this. Raises ConnectionError when the client has left."""
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: str = "200 OK", *lines: str) -> None:
        """Send the head of an answer; without a length it ends with the connection."""
        told = [f"HTTP/1.1 {status}", f"Content-Type: {self.media_type}", "Connection: close"]
        await self.say("\r\n".join([*told, *lines, "", ""]).encode())

    async def left(self) -> None:
        """Wait until the client leaves."""
        while await self.reader.read(65_536):
            pass

    async def for_ever(self, data: bytes, seconds: float) -> None:
        """Say this again and again until the client leaves."""
        while not self.reader.at_eof():
            await self.say(data)
            await asyncio.sleep(seconds)


Fault = Callable[[Visit], Awaitable[None]]


async def silent(visit: Visit) -> None:
    """No answer."""
    await visit.left()


async def closed(visit: Visit) -> None:
    """The connection is closed without a word."""


async def reset(visit: Visit) -> None:
    """The connection is reset."""
    # A linger time of zero makes the system send a reset instead of a farewell.
    linger = struct.pack("ii", 1, 0)
    visit.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


async def garbage(visit: Visit) -> None:
    """Something that is no HTTP."""
    await visit.say(visit.drawn.randbytes(3_000))


async def half_a_head(visit: Visit) -> None:
    """A head that stops in the middle of a line."""
    await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/ht")
    await visit.left()


async def trickling_head(visit: Visit) -> None:
    """A head that comes byte by byte and has no end."""
    await visit.say(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await visit.for_ever(b"a", DROP)


async def endless_head(visit: Visit) -> None:
    """Header after header, quickly."""
    await visit.say(b"HTTP/1.1 200 OK\r\n")
    await visit.for_ever(b"X-More: of the same\r\n" * 500, PIECE)


async def always_continue(visit: Visit) -> None:
    """Told to go on, for ever."""
    await visit.for_ever(b"HTTP/1.1 100 Continue\r\n\r\n", DROP)


async def only_a_head(visit: Visit) -> None:
    """A head, and no body."""
    await visit.head("200 OK", "Content-Length: 5000")
    await visit.left()


async def trickling_body(visit: Visit) -> None:
    """A body that comes byte by byte."""
    await visit.head()
    await visit.for_ever(b" ", DROP)


async def endless_body(visit: Visit) -> None:
    """A body without end, quickly."""
    await visit.head()
    await visit.for_ever(_PARAGRAPH * 800, PIECE)


async def endless_chunks(visit: Visit) -> None:
    """A body in chunks of one byte, each with a comment."""
    await visit.head("200 OK", "Transfer-Encoding: chunked")
    await visit.for_ever(b"1;" + b"c" * 200 + b"\r\nx\r\n", PIECE)


async def endless_events(visit: Visit) -> None:
    """A stream of events which only say that more will come."""
    await visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    await visit.for_ever(b": still here\n\n", DROP)


async def cut_body(visit: Visit) -> None:
    """Half of what was promised."""
    await visit.head("200 OK", "Content-Length: 100000")
    await visit.say(_PARAGRAPH * 5)


async def bomb(visit: Visit) -> None:
    """A body of fifty megabytes in fifty thousand bytes."""
    packed = zeros(50, 1)
    await visit.head("200 OK", "Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    await visit.say(packed)


async def never_closed(visit: Visit) -> None:
    """The honest answer, but its end is not told."""
    await visit.head()
    await visit.say((await visit.honest()).partition(b"\r\n\r\n")[2])
    await visit.left()


async def dripping(visit: Visit) -> None:
    """The honest answer in twenty pieces over up to twenty seconds."""
    answer, seconds = await visit.honest(), visit.drawn.uniform(0.1, 1.0)
    for n in range(20):
        await visit.say(answer[len(answer) * n // 20 : len(answer) * (n + 1) // 20])
        await asyncio.sleep(seconds)


async def late(visit: Visit) -> None:
    """The honest answer, after up to twelve seconds."""
    await asyncio.sleep(visit.drawn.uniform(0.5, 12.0))
    await visit.say(await visit.honest())


def refuses(status: str, *lines: str) -> Fault:
    """An answer that says no."""

    async def refusal(visit: Visit) -> None:
        await visit.head(status, *lines)
        await visit.say(b'{"error": {"message": "Not now.", "type": "server_error"}}')

    return refusal


async def loop(visit: Visit) -> None:
    """Leads to itself by ever new addresses."""
    n = int(visit.path.rpartition("again=")[2]) if "again=" in visit.path else 0
    await visit.head("302 Found", f"Location: /?again={n + 1}")


async def led_astray(visit: Visit) -> None:
    """Leads to an address nobody may visit, to one that does not answer, or to no web server."""
    await visit.head("302 Found", f"Location: {visit.drawn.choice(visit.elsewhere)}")


def says(body: bytes) -> Fault:
    """A good answer with this body."""

    async def answer(visit: Visit) -> None:
        await visit.head("200 OK", f"Content-Length: {len(body)}")
        await visit.say(body)

    return answer


FAULTS: dict[str, Fault] = {
    found.__name__.replace("_", " "): found
    for found in (
        *(silent, closed, reset, garbage, half_a_head, trickling_head, endless_head),
        *(always_continue, only_a_head, trickling_body, endless_body, endless_chunks),
        *(endless_events, cut_body, bomb, never_closed, dripping, late, loop, led_astray),
    )
} | {
    "500": refuses("500 Internal Server Error"),
    "401": refuses("401 Unauthorized"),
    "429, soon again": refuses("429 Too Many Requests", "Retry-After: 1"),
    "503, in an hour": refuses("503 Service Unavailable", "Retry-After: 3600"),
    "empty": says(b""),
    "null": says(b"null"),
    "another shape": says(b'{"results": {"url": 1}, "choices": [], "data": "x", "model": null}'),
    "deep": says(b"[" * 200_000),
    "a page": says(b"<!doctype html><title>Welcome</title>" + _PARAGRAPH * 3),
}
