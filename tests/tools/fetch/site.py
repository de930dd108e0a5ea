"""A web site of one page whose every header a test decides, in the test's own loop, so that it can
go away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

BODY = (
    b"<title>Tides</title><article><p>The winter tide reached the second step of the harbour office"
    b" on eleven days.</p></article>"
)


class Site:
    """Answers every request but robots.txt alike. `asked` are the heads of the requests; `answer`
    and `status` can be changed.
    """

    def __init__(self, headers: Mapping[str, str] | None = None, *, body: bytes = BODY) -> None:
        self.headers = dict(headers or {})
        self.status = 200
        self.body = body
        self.asked: list[str] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/tides"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.leave()

    async def leave(self) -> None:
        """Go away: nobody listens any more."""
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        robots = head.startswith("get /robots.txt")
        status, body = (
            (404, b"") if robots else (self.status, b"" if self.status == 304 else self.body)
        )
        if not robots:
            self.asked.append(head)
        length = {} if status == 304 else {"content-length": str(len(body))}
        lines = [
            f"{name}: {value}"
            for name, value in (self.headers | length | {"connection": "close"}).items()
        ]
        writer.write("\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + body)
        await writer.drain()
        writer.close()
