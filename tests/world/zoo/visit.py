"""One request to an animal, as its server got it, and the line back to the client."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass

#: Stands in an answer for the server's own host and port.
HERE = b"@HERE@"


@dataclass
class Visit:
    """`times` counts the requests for this path, this one included; `keep` leaves the connection
    open for another.
    """

    method: str
    path: str
    headers: dict[str, str]
    times: int
    host: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    keep: bool = False
    sent: int = 0

    async def send(self, data: bytes) -> None:
        """Send some bytes; they count once they have left."""
        data = data.replace(HERE, self.host.encode())
        self.writer.write(data)
        await self.writer.drain()
        self.sent += len(data)

    async def gone(self) -> None:
        """Return when the client has left."""
        while await self.reader.read(65_536):
            pass

    def reset(self) -> None:
        """Make the end of the connection a reset instead of a farewell."""
        self.writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )


async def received(reader: asyncio.StreamReader, first: bytes) -> tuple[str, str, dict[str, str]]:
    """Method, path (with its query) and headers of a request whose first byte has come. Raises
    asyncio.IncompleteReadError.
    """
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    return method, path, dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
