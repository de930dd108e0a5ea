"""The lines to servers: closed when their beginning is broken off, and not used again when more
came than was asked for.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import AsyncExitStack
from typing import Any

import httpcore


class Line(httpcore.AsyncNetworkStream):
    """A connection that is closed when its TLS handshake is broken off; httpcore would leave the
    socket open.
    """

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


class Pool(httpcore.AsyncConnectionPool):
    """Connections without proxies, none of which is used again with bytes in it that belong to no
    answer.
    """

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext,
        network_backend: httpcore.AsyncNetworkBackend,
        most: int,
        keep_seconds: float,
    ) -> None:
        super().__init__(
            ssl_context=ssl_context,
            network_backend=network_backend,
            max_connections=most,
            keepalive_expiry=keep_seconds,
            http2=True,
        )
        self._ssl, self._network, self._keep_seconds = ssl_context, network_backend, keep_seconds

    async def aclose(self) -> None:
        """Close all connections, also when this is cancelled."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(super().aclose)
            for connection in self.connections:
                closing.push_async_callback(connection.aclose)

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        """A connection to `origin`, which is made when it is first used."""
        return _Connection(
            origin=origin,
            ssl_context=self._ssl,
            keepalive_expiry=self._keep_seconds,
            http2=True,
            network_backend=self._network,
        )


class _Connection(httpcore.AsyncHTTPConnection):
    def has_expired(self) -> bool:
        """Also with a second answer in it: a server that lets strangers write it would let them
        answer for the next page.
        """
        parser = getattr(self._connection, "_h11_state", None)  # httpcore has no public word for it
        return super().has_expired() or (
            self.is_idle() and parser is not None and bool(parser.trailing_data[0])
        )
