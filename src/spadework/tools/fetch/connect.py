"""Guarded connections: every address of a name is checked before one is connected to."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import httpcore

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import is_owned, may_connect
from spadework.tools.web import name_lookup
from spadework.tools.web.connections import Lines, authorization, proxy_for, tunnel
from spadework.tools.web.registered_domains import is_address

#: Returns a host name's addresses, best first. Raises OSError if there are none.
Resolve = Callable[[str], Awaitable[list[str]]]
#: Maximum addresses tried per host, and seconds for each.
MAX_ADDRESSES = 4
CONNECT_SECONDS = 10.0


class NoSuchHost(httpcore.ConnectError):
    """The name does not resolve, or no name server answers."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """The network below httpcore. It handles only TCP, so that TLS and the Host header keep the
    name.
    """

    def __init__(self, resolve: Resolve, allow_hosts: Collection[str] = ()) -> None:
        self._resolve = resolve
        self._allow_hosts = frozenset(host.lower().strip("[]") for host in allow_hosts)
        self.network = Lines(httpcore.AnyIOBackend())  # pyright: ignore[reportArgumentType]  # another class without anyio

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection to the first address that answers, or through the network's proxy.
        Raises NotAllowed if any address is refused.
        """
        scheme = "http" if port == 80 else "https"
        if proxy := proxy_for(f"{scheme}://{_url_host(host)}:{port}"):
            await self.check(host)
            return await tunnel(self.network, proxy, f"{_url_host(host)}:{port}")
        failure: httpcore.NetworkError | httpcore.TimeoutException = NoSuchHost(
            f"no address is known for {host}"
        )
        seconds = min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        for address in (await self._addresses(host))[:MAX_ADDRESSES]:
            try:
                return await self.network.connect_tcp(address, port, seconds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def check(self, host: str) -> None:
        """Check a host that a proxy will resolve, if its name resolves here.

        Raises NotAllowed for a refused address and for a name without a dot, which is only
        meaningful inside a network.
        """
        try:
            await self._addresses(host)
        except NoSuchHost:
            if "." not in host and not is_owned(host, self._allow_hosts):
                raise NotAllowed(f"{host} is no name of the public web.") from None

    async def _addresses(self, host: str) -> list[str]:
        """Return a host's addresses. One refused address condemns all: a name that points inside
        and outside is a trap.
        """
        try:
            addresses = [host] if is_address(host) else await self._resolve(host)
        except (OSError, UnicodeError) as error:
            silent = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            why = "no name server answered" if silent else "no address is known"
            raise NoSuchHost(f"{why} for {host}") from None
        for address in addresses:
            if not may_connect(host, address, self._allow_hosts):
                way = "" if address == host else f"{host} is refused: "
                raise NotAllowed(
                    f"{way}{address} is not a public address.",
                    hint="Name hosts you own in SPADEWORK_ALLOW_HOSTS (the setting allow_hosts).",
                )
        return addresses


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def resolve(host: str) -> list[str]:
    """Resolve a name with the system's resolver, IPv4 first. Raises OSError, UnicodeError."""
    found = await name_lookup.addresses(host, None, type=socket.SOCK_STREAM)
    ranked = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)
    return list(dict.fromkeys(str(entry[4][0]) for entry in ranked))


class Pool(httpcore.AsyncConnectionPool):
    """At most `most` connections, each built from `line` (see httpcore); one with unread bytes is
    not reused.
    """

    def __init__(self, most: int, **line: Any) -> None:
        super().__init__(max_connections=most, http2=True, **line)
        self._line = line

    async def aclose(self) -> None:
        """Close all connections, even when cancelled."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(super().aclose)
            for connection in self.connections:
                closing.push_async_callback(connection.aclose)

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        """Return a connection to `origin`, opened on first use."""
        proxy = proxy_for(str(origin)) if origin.scheme == b"http" else None
        if proxy:  # a plain request goes to the proxy; an encrypted one through a tunnel
            return _Forwarded(origin, proxy, self._line)
        return _Connection(origin=origin, http2=True, **self._line)


class _Connection(httpcore.AsyncHTTPConnection):
    def has_expired(self) -> bool:
        """Return True also if unread bytes remain: a stranger could have written the next
        response.
        """
        parser = getattr(self._connection, "_h11_state", None)  # httpcore has no public API for it
        return super().has_expired() or (
            self.is_idle() and parser is not None and bool(parser.trailing_data[0])
        )


class _Forwarded(_Connection):
    """A connection to a proxy that forwards requests to one server, whose host the pool has
    checked.
    """

    def __init__(self, remote: httpcore.Origin, proxy: str, line: Mapping[str, Any]) -> None:
        self._remote, self._headers = remote, authorization(proxy)
        guarded: GuardedBackend = line["network_backend"]
        super().__init__(httpcore.URL(proxy).origin, **{**line, "network_backend": guarded.network})
        self._guarded = guarded

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        return origin in (self._remote, self._origin)  # as both the pool and httpcore ask

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        await self._guarded.check(request.url.host.decode())
        asked = httpcore.URL(
            scheme=self._origin.scheme,
            host=self._origin.host,
            port=self._origin.port,
            target=bytes(request.url),
        )
        forwarded = httpcore.Request(
            request.method,
            asked,
            headers=[*self._headers, *request.headers],
            content=request.stream,
            extensions=request.extensions,
        )
        return await super().handle_async_request(forwarded)
