"""A server that stands before an honest one: it hands a request on, or does something to it that
depends on the seed and on what is asked, so that the order of requests changes nothing.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field

from tests.hostile.attack import Assault
from tests.hostile.faults import FAULTS, Visit

_UNHARMED = Assault()
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
#: Lines of a request that hold for one connection alone.
_OWN = re.compile(rb"\r\n(?:connection|host):[^\r]*", re.IGNORECASE)
#: Ports are the system's choice, and another one in the next run of the same seed, as are days.
_CHANGING = re.compile(rb":\d{4,5}|\b20\d\d-\d\d-\d\d\b")


@dataclass
class Front:
    """Serves connections in the place of the server at `behind`, as (host, port).

    `assaults`: by how paths begin; the longest that fits counts. `did`: how often which fault was
    done, "honest" among them.
    """

    seed: str
    assaults: Mapping[str, Assault]
    behind: tuple[str, int]
    media_type: str
    elsewhere: tuple[str, ...] = ()
    did: Counter[str] = field(default_factory=Counter)
    _asked: Counter[bytes] = field(default_factory=Counter)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which ends with its request."""
        # What the client does to its end of the connection is its right.
        left = suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        with closing(writer), left:
            head, body = await _read(reader)
            await self._answer(head, body, reader, writer)

    async def _answer(
        self, head: bytes, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        path = head.split(b" ", 2)[1].decode("latin-1")
        same = _CHANGING.sub(b"", path.encode("latin-1") + body)
        drawn = random.Random(f"{self.seed} {same!r} {self._asked[same]}")
        self._asked[same] += 1
        name = self._fault(path, drawn)
        self.did[name or "honest"] += 1

        async def honest() -> bytes:
            pieces: list[bytes] = []
            await self._hand_on(head + body, pieces.append)
            return b"".join(pieces)

        visit = Visit(path, self.media_type, reader, writer, honest, self.elsewhere, drawn)
        await (FAULTS[name](visit) if name else self._hand_on(head + body, writer.write))
        await writer.drain()

    def _fault(self, path: str, drawn: random.Random) -> str:
        """What is to be done, "" for nothing."""
        if "again=" in path:
            return "loop"
        fitting = [start for start in self.assaults if path.startswith(start)]
        assault = self.assaults[max(fitting, key=len)] if fitting else _UNHARMED
        return drawn.choice(assault.faults) if drawn.random() < assault.share else ""

    async def _hand_on(self, asked: bytes, say: Callable[[bytes], None]) -> None:
        """Say the honest server's answer as it comes; it ends with its connection."""
        reader, writer = await asyncio.open_connection(*self.behind)
        with closing(writer):
            head, _, body = asked.partition(b"\r\n\r\n")
            own = "\r\nConnection: close\r\nHost: {}:{}\r\n\r\n".format(*self.behind)
            writer.write(_OWN.sub(b"", head) + own.encode() + body)
            while piece := await reader.read(65_536):
                say(piece)


async def _read(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Head and body of a request."""
    head = await reader.readuntil(b"\r\n\r\n")
    told = _LENGTH.search(head)
    return head, await reader.readexactly(int(told[1])) if told else b""
