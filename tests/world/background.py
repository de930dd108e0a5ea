"""Real servers in one background thread: an event loop of their own, sockets on loopback, ports
chosen by the system.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Self, TypeVar

import uvicorn
from starlette.types import ASGIApp

T = TypeVar("T")
Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

#: Longest wait for a server to start or to stop, in seconds.
PATIENCE = 10.0


def listen(host: str) -> socket.socket:
    """A listening socket on `host`, its port chosen by the system. It answers nothing until it is
    served.
    """
    # Named as TCP, because asyncio turns off the waiting for small pieces (40 ms an answer) only
    # for a socket that says so.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.bind((host, 0))
    sock.listen(512)
    sock.setblocking(False)
    return sock


class Background:
    """A thread with an event loop that serves. Use it as a context manager: whatever was started
    ends with it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="world", daemon=True)
        self._served: list[tuple[uvicorn.Server, asyncio.Task[None]]] = []
        self._raw: list[asyncio.Server] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of `work`, which runs in the thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def serve(self, app: ASGIApp, sockets: Sequence[socket.socket]) -> None:
        """Serve `app` on all `sockets`. They listen already, so that a client may come at once."""
        self.run(self._serve(app, list(sockets)))

    def converse(self, conversation: Conversation, sock: socket.socket) -> None:
        """Serve `sock` byte by byte, without any HTTP library."""
        self.run(self._converse(conversation, sock))

    async def _serve(self, app: ASGIApp, sockets: list[socket.socket]) -> None:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=0,
        )
        server = uvicorn.Server(config)
        self._served.append((server, asyncio.create_task(server.serve(sockets))))

    async def _converse(self, conversation: Conversation, sock: socket.socket) -> None:
        self._raw.append(await asyncio.start_server(conversation, sock=sock))

    async def _stop(self) -> None:
        for raw in self._raw:
            raw.close()
        for server, _ in self._served:
            server.should_exit = True
        await asyncio.gather(*(task for _, task in self._served))
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        # A client that was killed leaves a connection that no task holds.
        for transport in [*getattr(self._loop, "_transports", {}).values()]:
            transport.abort()
        await asyncio.sleep(0)
