"""Lines to servers: what checks them, and that they are closed when their beginning breaks off."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache
from typing import Any, TypeVar

import httpcore
import httpx

C = TypeVar("C")


@cache
def certificates() -> ssl.SSLContext:
    """What checks the other side of every connection by TLS: the certificates of the system, read
    once, since that takes as long as a search.
    """
    return httpx.create_ssl_context()


class Line(httpcore.AsyncNetworkStream):
    """Is closed when its TLS handshake breaks off; httpcore would leave the socket open."""

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """At most `max_bytes` as they come, b"" at the end."""
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of `buffer`."""
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """The same connection, from here on with TLS."""
        try:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except asyncio.CancelledError:
            await self._inner.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection, by httpcore's names."""
        return self._inner.get_extra_info(info)


class Lines(httpcore.AsyncNetworkBackend):
    """The network below httpcore, with such lines."""

    def __init__(self, inner: httpcore.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(self, *where: Any, **how: Any) -> httpcore.AsyncNetworkStream:
        """A connection to a host."""
        return Line(await self._inner.connect_tcp(*where, **how))

    async def sleep(self, seconds: float) -> None:
        """Wait between two tries."""
        await self._inner.sleep(seconds)


def closing_lines(client: C) -> C:
    """The client of httpx or openai's fork, whose lines are such from now on, also through
    proxies.
    """
    # httpx hands no network down to httpcore, and has no public word for what it has made.
    made: Any = client
    for transport in (made._transport, *made._mounts.values()):
        if transport:  # none for a host that needs no proxy
            transport._pool._network_backend = Lines(transport._pool._network_backend)
    return client
