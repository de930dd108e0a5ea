"""Connections to the web: a name is resolved once, every address it has is judged, and the
connection goes to a judged one.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from ipaddress import ip_address
from typing import Any

import httpcore

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import may_connect
from spadework.tools.web import name_lookup
from spadework.tools.web.connections import Line

#: From a host name to its addresses, best first. Raises OSError when it has none.
Resolve = Callable[[str], Awaitable[list[str]]]

#: A host's first addresses are tried one after the other, none for longer than this.
MAX_ADDRESSES = 4
CONNECT_SECONDS = 10.0


class NoSuchHost(httpcore.ConnectError):
    """The name does not resolve, or no name server says whether it does."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """The network below httpcore. TLS and the Host header keep the name, since only the TCP
    connection is made here.
    """

    def __init__(self, resolve: Resolve, allow_hosts: Collection[str] = ()) -> None:
        self._resolve = resolve
        self._allow_hosts = frozenset(host.lower().strip("[]") for host in allow_hosts)
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address of `host` that answers. Raises NotAllowed when any of
        its addresses is refused.
        """
        failure: httpcore.NetworkError | httpcore.TimeoutException = NoSuchHost(
            f"no address is known for {host}"
        )
        for address in (await self._addresses(host))[:MAX_ADDRESSES]:
            try:
                return Line(
                    await self._network.connect_tcp(  # pyright: ignore[reportAttributeAccessIssue]  # another class without anyio
                        address, port, min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
                    )
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _addresses(self, host: str) -> list[str]:
        """The addresses of a host. One that may not be reached condemns all: a name that leads
        inside and outside is a trap.
        """
        try:
            addresses = [host] if _is_address(host) else await self._resolve(host)
        except (OSError, UnicodeError) as error:
            silent = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise NoSuchHost(
                f"{'no name server answered' if silent else 'no address is known'} for {host}"
            ) from None
        for address in addresses:
            if not may_connect(host, address, self._allow_hosts):
                way = "" if address == host else f"{host} is refused: "
                raise NotAllowed(
                    f"{way}{address} is not a public address.",
                    hint="Name hosts you own in allow_hosts.",
                )
        return addresses


async def resolve(host: str) -> list[str]:
    """The addresses of a name by the system's resolver, IPv4 first. Raises OSError or
    UnicodeError.
    """
    found = await name_lookup.addresses(host, None, type=socket.SOCK_STREAM)
    ranked = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)
    return list(dict.fromkeys(str(entry[4][0]) for entry in ranked))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
