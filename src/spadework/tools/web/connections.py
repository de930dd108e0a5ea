"""Connections to servers: TLS certificates, proxies, and closing on cancellation."""

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
#: Variables that name extra certificate authorities, as in curl, Python and requests.
AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")

#: Maximum bytes read of a proxy's response head.
_MOST_HEAD = 65_536


def read_certificates() -> ssl.SSLContext:
    """Return a TLS context that trusts the known authorities and those of SSL_CERT_FILE or
    REQUESTS_CA_BUNDLE. Raises SettingsError for an invalid file.
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


#: The same, cached: reading the certificates takes as long as a search.
certificates = cache(read_certificates)


def proxy_for(url: str) -> str | None:
    """Return the proxy for a URL: SPADEWORK_PROXY, else HTTPS_PROXY and similar. None without a
    proxy, for this machine and for hosts in NO_PROXY.

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
    """Return the header that authenticates with the user and password in the proxy's address."""
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
    """Return a proxy's address without its user and password."""
    return proxy.rpartition("@")[2].rpartition("://")[2][:100]


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Line(httpcore.AsyncNetworkStream):
    """A connection that is closed when its TLS handshake is cancelled; httpcore leaks the
    socket.
    """

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return up to `max_bytes` as they arrive, b"" at the end."""
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
        """Return the same connection, with TLS."""
        try:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except asyncio.CancelledError:
            await self._inner.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """Return connection info by httpcore's names."""
        return self._inner.get_extra_info(info)


class Lines(httpcore.AsyncNetworkBackend):
    """A network backend for httpcore that opens such connections."""

    def __init__(self, inner: httpcore.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(self, *where: Any, **how: Any) -> httpcore.AsyncNetworkStream:
        """Open a connection to a host."""
        return Line(await self._inner.connect_tcp(*where, **how))

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await self._inner.sleep(seconds)


def closing_lines(client: C) -> C:
    """Make an httpx or openai client use `Line` connections, also through proxies; return it."""
    # httpx offers no public way to pass a network backend to httpcore.
    made: Any = client
    for transport in (made._transport, *made._mounts.values()):
        if transport:  # None for a host that needs no proxy
            transport._pool._network_backend = Lines(transport._pool._network_backend)
    return client
