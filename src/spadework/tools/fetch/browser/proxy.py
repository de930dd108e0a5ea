"""A loopback proxy, the browser's only route to the network. It checks every request and serves
only us.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine
from typing import Any

import httpcore

from spadework.errors import NotAllowed
from spadework.tools.fetch.browser.permission import Permission
from spadework.tools.fetch.browser.proxy_protocol import (
    Request,
    Unfit,
    answer_head,
    parse_request,
    status_of,
)

_CHUNK = 65_536
MAX_HEAD = 262_144
HEAD_SECONDS = 20.0
IDLE_SECONDS = 60.0
_BROKEN = (
    OSError,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    TimeoutError,
)


class Proxy:
    """An HTTP proxy on 127.0.0.1 for holders of a `Permission`."""

    def __init__(self) -> None:
        self._permissions: dict[str, Permission] = {}
        self._talks: set[asyncio.Task[Any]] = set()

    async def open(self) -> str:
        """Start the proxy and return its address for the browser."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", 0, limit=MAX_HEAD)
        return "http://{}:{}".format(*self._server.sockets[0].getsockname())

    async def aclose(self) -> None:
        """Close every connection."""
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def admit(self, permission: Permission) -> None:
        """Start serving the permission's holder."""
        self._permissions[permission.user] = permission

    def dismiss(self, permission: Permission) -> None:
        """Refuse new connections to the permission's holder."""
        self._permissions.pop(permission.user, None)

    def _came(self, reader: StreamReader, writer: StreamWriter) -> None:
        talk = asyncio.create_task(self._talk(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except _BROKEN:
            pass  # the browser sees the connection end and copes with it
        finally:
            writer.close()

    async def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                request = parse_request(await reader.readuntil(b"\r\n\r\n"))
        except Unfit:
            return await _say(writer, "400 Bad Request")
        except NotAllowed:
            return await _say(writer, "403 Forbidden")
        permission = self._permissions.get(request.user)
        if permission is None or not secrets.compare_digest(
            request.password.encode(), permission.password.encode()
        ):
            realm = 'Proxy-Authenticate: Basic realm="spadework"\r\n'
            return await _say(writer, "407 Proxy Authentication Required", realm)
        return await _serve(request, permission, reader, writer)


async def _serve(
    request: Request, permission: Permission, reader: StreamReader, writer: StreamWriter
) -> None:
    if request.media:
        return await _say(writer, "403 Forbidden")
    try:
        server = await permission.connect(request.host, request.port)
    except NotAllowed:
        return await _say(writer, "403 Forbidden")
    except (httpcore.ConnectError, httpcore.ConnectTimeout):
        return await _say(writer, "502 Bad Gateway")
    permission.connections += 1
    try:
        if request.tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            up, down = _up(reader, server, permission), _down(server, writer, permission)
        else:
            await server.write(request.onward(), IDLE_SECONDS)
            up = _up(reader, server, permission, request.body)
            down = _answer_down(server, writer, permission)
        await _until_one_ends(up, down)
    finally:
        permission.connections -= 1
        await server.aclose()


async def _say(writer: StreamWriter, status: str, header: str = "") -> None:
    writer.write(
        f"HTTP/1.1 {status}\r\n{header}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
    )
    await writer.drain()


async def _until_one_ends(*ways: Coroutine[Any, Any, None]) -> None:
    """Run both directions of a connection until one ends; raise its error."""
    tasks = [asyncio.create_task(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _up(
    reader: StreamReader,
    server: httpcore.AsyncNetworkStream,
    permission: Permission,
    body: int | None = None,
) -> None:
    """Forward the whole upload, or `body` bytes, until the browser leaves or sends more."""
    while chunk := await reader.read(_CHUNK if body is None else min(body, _CHUNK) or 1):
        if body == 0:
            return
        body = None if body is None else body - len(chunk)
        permission.received += len(chunk)
        if permission.spent:
            return
        await server.write(chunk, IDLE_SECONDS)


async def _down(
    server: httpcore.AsyncNetworkStream, writer: StreamWriter, permission: Permission
) -> None:
    """Forward the download until the server ends it or the page's allowance is spent."""
    while chunk := await server.read(_CHUNK, IDLE_SECONDS):
        permission.received += len(chunk)
        if permission.spent:
            return
        writer.write(chunk)
        await writer.drain()


async def _answer_down(
    server: httpcore.AsyncNetworkStream, writer: StreamWriter, permission: Permission
) -> None:
    """Forward a response outside a tunnel with its head rewritten, skipping interim (1xx)
    responses.
    """
    begun = b""
    while True:
        while b"\r\n\r\n" not in begun:
            chunk = await server.read(_CHUNK, IDLE_SECONDS)
            if not chunk or len(begun) > MAX_HEAD:
                return
            begun += chunk
        head, _, begun = begun.partition(b"\r\n\r\n")
        if not 100 <= status_of(head) < 200:
            break
    permission.received += len(head) + len(begun)
    writer.write(answer_head(head) + begun)
    await writer.drain()
    await _down(server, writer, permission)
