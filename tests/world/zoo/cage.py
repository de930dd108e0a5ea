"""Where an animal lives while it is looked at: a server on loopback that counts what it was asked
and what it got rid of.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.world.background import listen
from tests.world.zoo.animal import Animal
from tests.world.zoo.serving import NOT_FOUND, says
from tests.world.zoo.visit import Visit, received

ADDRESS = "127.0.0.1"

#: Small, so that bytes that wait in the system are not taken for bytes that were received.
SEND_BUFFER = 64 * 1024

#: What a client begins with that takes the server for one that speaks TLS.
_TLS = b"\x16"


@dataclass
class Cage:
    """What the server saw: its connections, the requests for pages, and the bytes that left."""

    animal: Animal
    host: str = ""
    connections: int = 0
    visits: list[Visit] = field(default_factory=list)
    talks: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the animal is read."""
        return f"{'https' if self.animal.tls else 'http'}://{self.host}/"

    @property
    def sent(self) -> int:
        """All bytes sent as pages."""
        return sum(visit.sent for visit in self.visits)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.talks[task] = writer
        self.connections += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left first, which is its right
        finally:
            writer.close()
            del self.talks[task]

    async def end(self) -> None:
        """Break off what still goes on, and return when it has ended."""
        for writer in self.talks.values():
            writer.transport.abort()
        await asyncio.gather(*self.talks)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if self.animal.tls == "mute" or "h2" in self.animal.protocols:
            visit = Visit("", "", {}, self.connections, self.host, reader, writer)
            self.visits.append(visit)
            await self.animal.serve(visit)
            return False
        first = await reader.readexactly(1)
        if first == _TLS:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return False
        method, path, headers = await received(reader, first)
        times = 1 + sum(visit.path == path for visit in self.visits)
        visit = Visit(method, path, headers, times, self.host, reader, writer)
        if path == "/robots.txt":
            await (self.animal.robots or says(NOT_FOUND))(visit)
        else:
            self.visits.append(visit)
            await self.animal.serve(visit)
        return visit.keep


@asynccontextmanager
async def caged(animal: Animal, context: ssl.SSLContext | None = None) -> AsyncIterator[Cage]:
    """Serve an animal; nothing of it is left behind."""
    cage, sock = Cage(animal), listen(ADDRESS)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    cage.host = "{}:{}".format(*sock.getsockname())
    if not animal.listens:
        sock.close()
        yield cage
        return
    server = await asyncio.start_server(cage.talk, sock=sock, ssl=context)
    try:
        yield cage
    finally:
        server.close()
        await cage.end()
        await server.wait_closed()
