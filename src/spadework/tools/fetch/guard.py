"""Decide which addresses may be fetched: public servers and allowed hosts."""

from __future__ import annotations

import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import httpcore
import idna

from spadework.errors import NotAllowed
from spadework.tools.web.connections import (
    ClosingBackend,
    addresses,
    authorization,
    proxy_for,
    tunnel,
)
from spadework.tools.web.urls import is_address

MAX_URL_CHARS = 2_000
#: IPv4 ranges without public sites (IANA special-purpose registry), plus Azure's platform address.
# fmt: off
_REFUSED_V4 = tuple(IPv4Network(network) for network in (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
))
# fmt: on
#: The global IPv6 network, and the ranges within it that are refused: Teredo, benchmarking and
#: documentation.
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
#: IPv6 networks whose addresses embed an IPv4 address, and the number of bits after the embedded
#: address.
_CARRIERS = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
_ISATAP = (0x00005EFE, 0x02005EFE)
_IPV4_LIKE = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\]")
_PORTS = {"http": 80, "https": 443}


def is_public(address: str) -> bool:
    """Return whether an IP address counts as public, or False for a host name."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _public_v6(parsed) if isinstance(parsed, IPv6Address) else _public_v4(parsed)


def _public_v4(address: IPv4Address) -> bool:
    return not any(address in network for network in _REFUSED_V4)


def _public_v6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    for network, shift in _CARRIERS:
        if address in network:
            return _public_v4(IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        return False
    return address in _GLOBAL_V6 and not any(address in network for network in _REFUSED_V6)


def may_connect(host: str, address: str, allow_hosts: Collection[str]) -> bool:
    """Return whether `address` is public, or `allow_hosts` lists the host or the address."""
    return is_owned(host, allow_hosts) or is_owned(address, allow_hosts) or is_public(address)


def is_owned(host: str, allow_hosts: Collection[str]) -> bool:
    """Return whether `allow_hosts` lists the host or, for an IP address, a network including it."""
    if host in allow_hosts:
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in ip_network(word) for word in allow_hosts if "/" in word)


def check_url(url: str) -> str:
    """Return the URL in normal form, without fragment or default port. Raises NotAllowed if it is
    not http(s), has a user name or exceeds MAX_URL_CHARS. Does not check whether the host is
    public.
    """
    url = url.strip()
    if len(url) > MAX_URL_CHARS:
        raise NotAllowed(f"{printable_url(url)[:60]}… is longer than {MAX_URL_CHARS} characters.")
    parts = _split_web_url(url)
    if parts is None:
        raise NotAllowed(f"{printable_url(url)} is not an http or https URL.")
    if "@" in parts.netloc:
        raise NotAllowed("URLs with a user name or password are not fetched.")
    host = _literal(parts.hostname or "") if "[" in parts.netloc else _name(parts.hostname or "")
    netloc = host if parts.port in (None, _PORTS[parts.scheme]) else f"{host}:{parts.port}"
    path, query = (
        quote(part, safe="/%:@!$&'()*+,;=~?[]|^") for part in (parts.path or "/", parts.query)
    )
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def _split_web_url(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        fit = parts.scheme in _PORTS and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if fit and not _UNFIT.search(parts.netloc) else None


def is_http_url(text: str) -> bool:
    """Return whether `text` is a well-formed http(s) URL."""
    try:
        check_url(text)
    except NotAllowed:
        return False
    return True


def _literal(host: str) -> str:
    """Return an IPv6 address in brackets. Raises NotAllowed if it is invalid or has a zone ID."""
    try:
        address = IPv6Address(host)
    except ValueError:
        address = None
    if address is None or address.scope_id is not None:
        raise NotAllowed(f"[{printable_url(host)}] is not a usable IPv6 address.")
    return f"[{address}]"


def _name(host: str) -> str:
    """Return the host in normal form: "0x7f.1" becomes "127.0.0.1"."""
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
        name = name.lower().rstrip(".")
        if _IPV4_LIKE.fullmatch(name):
            return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, UnicodeError):
        name = ""
    if not _NAME.fullmatch(name) or name.rpartition(".")[2].isdigit():
        raise NotAllowed(f"{printable_url(host)} is not a valid host name.")
    return name


def printable_url(url: str) -> str:
    """Return a short URL for messages, without credentials or query string."""
    return url.partition("?")[0].rpartition("@")[2].removeprefix("//")[:120]


#: A function that returns a host's addresses, best first, and raises OSError if there are none.
Resolve = Callable[[str], Awaitable[list[str]]]
MAX_ADDRESSES = 4
CONNECT_SECONDS = 10.0


class NoSuchHost(httpcore.ConnectError):
    """The host name does not resolve, or no name server answered."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects httpcore to checked addresses, keeping the host name for TLS."""

    def __init__(self, resolve: Resolve, allow_hosts: Collection[str] = ()) -> None:
        self._resolve = resolve
        self._allow_hosts = frozenset(host.lower().strip("[]") for host in allow_hosts)
        self.network = ClosingBackend(httpcore.AnyIOBackend())  # pyright: ignore[reportArgumentType]  # another class without anyio

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect directly or through a proxy. Raises NotAllowed if any address is refused."""
        scheme = "http" if port == 80 else "https"
        if proxy := proxy_for(f"{scheme}://{_url_host(host)}:{port}"):
            await self.check(host)
            return await tunnel(self.network, proxy, f"{_url_host(host)}:{port}")
        failure: httpcore.NetworkError | httpcore.TimeoutException = NoSuchHost(
            f"no address was found for {host}"
        )
        seconds = min(timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        for address in (await self._addresses(host))[:MAX_ADDRESSES]:
            try:
                return await self.network.connect_tcp(address, port, seconds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def check(self, host: str) -> None:
        """Check a host that a proxy will resolve. Raises NotAllowed if an address is refused, or if
        a name without a dot cannot be resolved here and is not in `allow_hosts`.
        """
        try:
            await self._addresses(host)
        except NoSuchHost:
            if "." not in host and not is_owned(host, self._allow_hosts):
                raise NotAllowed(f"{host} is not a public host name.") from None

    async def _addresses(self, host: str) -> list[str]:
        """Return a host's addresses. Raises NotAllowed if any is forbidden."""
        try:
            addresses = [host] if is_address(host) else await self._resolve(host)
        except (OSError, UnicodeError) as error:
            silent = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            why = "no name server answered" if silent else "no address was found"
            raise NoSuchHost(f"{why} for {host}") from None
        for address in addresses:
            if not may_connect(host, address, self._allow_hosts):
                way = "" if address == host else f"{host} is refused: "
                raise NotAllowed(
                    f"{way}{address} is not a public address.",
                    hint="If you own the host, add it to SPADEWORK_ALLOW_HOSTS.",
                )
        return addresses


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def resolve(host: str) -> list[str]:
    """Return a host's addresses, IPv4 first. Raises OSError or UnicodeError."""
    found = await addresses(host, None, type=socket.SOCK_STREAM)
    ranked = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)
    return list(dict.fromkeys(str(entry[4][0]) for entry in ranked))


class Pool(httpcore.AsyncConnectionPool):
    """A pool of up to `most` connections. `line` holds additional arguments for httpcore's pool."""

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
        """Return a connection to `origin`, which opens on first use."""
        proxy = proxy_for(str(origin)) if origin.scheme == b"http" else None
        if proxy:  # HTTP requests are sent to the proxy; HTTPS goes through a tunnel
            return _Forwarded(origin, proxy, self._line)
        return _Connection(origin=origin, http2=True, **self._line)


class _Connection(httpcore.AsyncHTTPConnection):
    def has_expired(self) -> bool:
        """Return True if the connection expired, or if unread bytes may forge the next response."""
        # Httpcore has no public API for the parser's state.
        parser = getattr(self._connection, "_h11_state", None)
        return super().has_expired() or (
            self.is_idle() and parser is not None and bool(parser.trailing_data[0])
        )


class _Forwarded(_Connection):
    """A connection to a proxy that forwards plain HTTP to one server."""

    def __init__(self, remote: httpcore.Origin, proxy: str, line: Mapping[str, Any]) -> None:
        self._remote, self._headers = remote, authorization(proxy)
        guarded: GuardedBackend = line["network_backend"]
        super().__init__(httpcore.URL(proxy).origin, **{**line, "network_backend": guarded.network})
        self._guarded = guarded

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        # The pool calls this method with the remote server's origin. The base class calls it with
        # the proxy's origin.
        return origin in (self._remote, self._origin)

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
