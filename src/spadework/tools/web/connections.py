"""Lines to servers: what checks them, through which proxy they go, and that they are closed when
their beginning breaks off.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from base64 import b64encode
from functools import cache
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from spadework.errors import SettingsError

C = TypeVar("C")
#: Variables that name authorities of one's own, as curl, Python and requests know them.
AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")

#: Bytes of a proxy's answer that are read at most.
_MOST_HEAD = 65_536


def read_certificates() -> ssl.SSLContext:
    """Return what checks the other side of a connection by TLS: known authorities, and those of
    SSL_CERT_FILE or REQUESTS_CA_BUNDLE. Raises SettingsError for a file that is none.
    """
    context = httpx.create_ssl_context(trust_env=False)
    for name in AUTHORITIES:
        if file := os.environ.get(name):
            try:
                context.load_verify_locations(file)
            except OSError as error:  # ssl.SSLError is one
                why = error.strerror or error
                raise SettingsError(
                    f"{name} names {file[:200]}, which holds no certificates: {why}."
                ) from None
    return context


#: The same, read once for all who share it, since reading takes as long as a search.
certificates = cache(read_certificates)


def proxy_for(url: str) -> str | None:
    """Return the proxy through which a URL is asked: that of SPADEWORK_PROXY, else of HTTPS_PROXY
    and its like; None for this machine, for what NO_PROXY names, and where there is no proxy.

    Raises SettingsError for a proxy that does not speak HTTP.
    """
    parts = urlsplit(url)
    host, named = parts.hostname or "", getproxies()
    proxy = os.environ.get("SPADEWORK_PROXY", "").strip() or next(
        (named[scheme] for scheme in (parts.scheme, "https", "all") if named.get(scheme)), ""
    )
    if not proxy or _is_this_machine(host) or proxy_bypass(parts.netloc):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https") or not urlsplit(proxy).hostname:
        raise SettingsError(
            f"The proxy cannot be {shown_proxy(proxy)}: it is one such as http://proxy:3128."
        )
    return proxy


def authorization(proxy: str) -> list[tuple[bytes, bytes]]:
    """Return the header that lets us into a proxy with the user and password in its address."""
    parts = urlsplit(proxy)
    if not parts.username:
        return []
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return [(b"Proxy-Authorization", b"Basic " + b64encode(pair))]


async def tunnel(
    network: httpcore.AsyncNetworkBackend, proxy: str, target: str, *, seconds: float = 10.0
) -> httpcore.AsyncNetworkStream:
    """Return a connection to `target` (HOST:PORT) through a proxy. Raises httpcore.ConnectError."""
    place, head = httpcore.URL(proxy).origin, b""
    line = await network.connect_tcp(place.host.decode(), place.port, seconds)
    try:
        if place.scheme == b"https":
            line = await line.start_tls(certificates(), place.host.decode(), seconds)
        lines = [(b"CONNECT %s HTTP/1.1" % target.encode(), b""), (b"Host", target.encode())]
        asked = [b": ".join(filter(None, pair)) for pair in (*lines, *authorization(proxy))]
        await line.write(b"\r\n".join([*asked, b"", b""]), seconds)
        while b"\r\n\r\n" not in head and len(head) < _MOST_HEAD:
            if not (piece := await line.read(_MOST_HEAD, seconds)):
                break
            head += piece
        status = head.partition(b"\r\n")[0].split()[1:2]
        if status != [b"200"]:
            said = status[0].decode(errors="replace") if status else "nothing"
            raise httpcore.ConnectError(f"the proxy {shown_proxy(proxy)} answered {said[:20]}")
    except BaseException:
        await line.aclose()
        raise
    return line


def shown_proxy(proxy: str) -> str:
    """Return the address of a proxy without its user and password."""
    return proxy.rpartition("@")[2].rpartition("://")[2][:100]


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


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
