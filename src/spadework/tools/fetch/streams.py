"""The lines to web servers: not used again when more came than was asked for."""

from __future__ import annotations

import ssl
from contextlib import AsyncExitStack

import httpcore


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
