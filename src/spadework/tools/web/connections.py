"""Connect to servers: TLS certificates, proxies, host names, and cleanup after cancellation. The
operating system resolves names, because a DNS client would ignore the hosts file.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from spadework.errors import SettingsError, must_be
from spadework.tools.web.background_threads import begin, settle

C = TypeVar("C")
#: Environment variables that name files with extra certificates, as in curl and requests.
AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")

_MOST_HEAD = 65_536


def read_certificates() -> ssl.SSLContext:
    """Return a TLS context that also trusts AUTHORITIES. Raises SettingsError for a bad file."""
    context = httpx.create_ssl_context(trust_env=False)
    for name in AUTHORITIES:
        if file := os.environ.get(name):
            try:
                context.load_verify_locations(file)
            except OSError as error:  # includes ssl.SSLError
                why = error.strerror or error
                raise SettingsError(
                    f"No certificates could be read from {file[:200]} ({name}): {why}."
                ) from None
    return context


#: The result is cached, because reading the certificates takes as long as a search.
certificates = cache(read_certificates)


def proxy_for(url: str) -> str | None:
    """Return the proxy for a URL from SPADEWORK_PROXY, HTTPS_PROXY or a similar variable, or None
    if none is set. This machine and NO_PROXY hosts need none. Raises SettingsError if the
    proxy's address is invalid.
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
        wanted = "a URL such as http://proxy:3128"
        raise SettingsError(must_be("The proxy", wanted, shown_proxy(proxy)))
    return proxy


def authorization(proxy: str) -> list[tuple[bytes, bytes]]:
    """Return the `Proxy-Authorization` header, or no header if the proxy's URL has no user name."""
    parts = urlsplit(proxy)
    if not parts.username:
        return []
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return [(b"Proxy-Authorization", b"Basic " + b64encode(pair))]


async def tunnel(
    network: httpcore.AsyncNetworkBackend, proxy: str, target: str, *, seconds: float = 10.0
) -> httpcore.AsyncNetworkStream:
    """Connect to `target` (HOST:PORT) through a proxy. Raises httpcore.ConnectError."""
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
    """Return the proxy's address, excluding user name and password."""
    return proxy.rpartition("@")[2].rpartition("://")[2][:100]


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class ClosingStream(httpcore.AsyncNetworkStream):
    """A connection that, unlike httpcore's, closes if its TLS handshake is cancelled."""

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return up to `max_bytes` as they arrive, or b"" at the end."""
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
        """Upgrade the connection to TLS."""
        try:
            return await self._inner.start_tls(ssl_context, server_hostname, timeout)
        except asyncio.CancelledError:
            await self._inner.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        """Return the connection detail that httpcore calls `info`."""
        return self._inner.get_extra_info(info)


class ClosingBackend(httpcore.AsyncNetworkBackend):
    """An httpcore network backend that makes each connection a `ClosingStream`."""

    def __init__(self, inner: httpcore.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(self, *where: Any, **how: Any) -> httpcore.AsyncNetworkStream:
        """Open a connection to a host."""
        return ClosingStream(await self._inner.connect_tcp(*where, **how))

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await self._inner.sleep(seconds)


def closing_lines(client: C) -> C:
    """Make an httpx or openai client use `ClosingBackend`, including for proxies."""
    # httpx has no public API for setting the network backend.
    made: Any = client
    for transport in (made._transport, *made._mounts.values()):
        if transport:  # the transport is None for hosts that need no proxy
            transport._pool._network_backend = ClosingBackend(transport._pool._network_backend)
    return client


def read_key(secret: SecretStr | None, variable: str) -> str:
    """Return the API key in `secret`. Raises SettingsError if the key is missing or malformed."""
    key = secret.get_secret_value().strip() if secret else ""
    if not key:
        raise SettingsError(f"{variable} is not set.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"{variable} is not a valid key: it contains spaces or invalid characters."
        )
    return key


T = TypeVar("T")
LONGEST = 5.0


async def ask_again(
    ask: Callable[[], Awaitable[T]],
    worth: Callable[[BaseException], bool | float],
    most: int,
    *,
    first: float = 0.1,
    jitter: float = 1.0,
) -> T:
    """Call `ask` up to `most` times, and raise its last error if it never succeeds. `worth` takes
    an error, and returns whether to retry, or the seconds to wait before a retry. If it returns
    True, the pause starts at `first` seconds and doubles each time. Up to `jitter` random
    seconds are added, but no pause exceeds LONGEST.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        said = worth(error) if error else True
        if not isinstance(said, bool):
            return said
        return min(LONGEST, first * 2.0 ** (state.attempt_number - 1) + random.uniform(0, jitter))

    retrying = AsyncRetrying(
        # Compare with False, because 0 is falsy but means to retry after 0 seconds.
        retry=retry_if_exception(lambda error: worth(error) is not False),
        stop=stop_after_attempt(most),
        wait=pause,
        reraise=True,
    )
    return await retrying(ask)


#: Headers that state how many requests are left in each rate-limit window, and when the window ends
#: (in seconds from now or as a Unix time).
RATE_LIMIT_HEADERS = ("x-ratelimit-remaining", "x-ratelimit-reset")
#: Header values above this are a Unix time, not a delay in seconds.
_MOST_WAIT = 1e9
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def http_date(value: str) -> datetime | None:
    """Parse the time in an HTTP header into UTC, or return None if it is invalid."""
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str) -> float | None:
    """Parse a Retry-After header (RFC 9110, 10.2.3) into seconds. Returns None if invalid."""
    if (number := value.strip()).isdecimal():
        return float(number[:9])
    until = http_date(value)
    return None if until is None else max(0.0, (until - datetime.now(UTC)).total_seconds())


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the exhausted rate-limit windows end, or None if none is exhausted
    or the end is unknown. Each header lists a number for each window, as in
    `X-RateLimit-Remaining: 0, 1985`. If it is unknown which windows are exhausted, the first to
    end counts.
    """
    left, ends = (
        [float(number) for number in _NUMBER.findall(headers.get(name, ""))]
        for name in RATE_LIMIT_HEADERS
    )
    now = datetime.now(UTC).timestamp()
    waits = [max(0.0, end - now) if end > _MOST_WAIT else end for end in ends]
    if len(left) == len(waits):
        return max((wait for some, wait in zip(left, waits, strict=True) if not some), default=None)
    return min(waits, default=None)


#: Seconds allowed for a host name lookup. glibc tries a second name server after five seconds.
SECONDS = 10.0
#: Maximum number of concurrent host name lookups. Further lookups wait, but not past their own
#: deadlines.
MOST = 64
_HOW = ("family", "type", "proto", "flags")
Asked = tuple[Any, ...]


@dataclass(eq=False)
class _LookUp:
    asked: Asked
    until: float
    found: Future[list[Any]] = field(default_factory=Future)


class Resolver:
    """Resolves host names with `look_up`, for all threads and event loops of this process."""

    def __init__(
        self,
        look_up: Callable[..., list[Any]] = socket.getaddrinfo,
        *,
        seconds: float = SECONDS,
        most: int = MOST,
    ) -> None:
        self._look_up, self._seconds, self._most = look_up, seconds, most
        self._lock = threading.Lock()
        self._asked: dict[Asked, _LookUp] = {}
        self._waiting: deque[_LookUp] = deque()
        self._running = 0

    @property
    def under_way(self) -> frozenset[str]:
        """The host names that are being looked up or are waiting for a lookup."""
        with self._lock:
            return frozenset(str(asked[0]) for asked in self._asked)

    async def addresses(self, host: Any, port: Any, **how: int) -> list[Any]:
        """Run `socket.getaddrinfo`. Raises socket.gaierror, with EAI_AGAIN after a timeout."""
        look_up = self._joined((host, port, *(how.get(name, 0) for name in _HOW)))
        try:
            async with asyncio.timeout(max(0.0, look_up.until - time.monotonic())):
                return await asyncio.wrap_future(look_up.found)
        except TimeoutError:
            said = f"no name server answered for {host} within {self._seconds:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, said) from None

    def _joined(self, asked: Asked) -> _LookUp:
        with self._lock:
            if (found := self._asked.get(asked)) is None:
                found = self._asked[asked] = _LookUp(asked, time.monotonic() + self._seconds)
                # Mark the future as running, so that a cancelled caller cannot cancel it for other
                # callers.
                found.found.set_running_or_notify_cancel()
                self._waiting.append(found)
                self._start()
        return found

    def _start(self) -> None:
        while self._waiting and self._running < self._most:
            look_up = self._waiting.popleft()
            if time.monotonic() >= look_up.until:
                del self._asked[look_up.asked]
                continue
            self._running += 1
            begin(partial(self._do, look_up))

    def _do(self, look_up: _LookUp) -> None:
        settle(look_up.found, partial(self._look_up, *look_up.asked))
        with self._lock:
            del self._asked[look_up.asked]
            self._running -= 1
            self._start()


RESOLVER = Resolver()


def _after_fork() -> None:
    global RESOLVER  # the resolver's threads do not survive a fork
    RESOLVER = Resolver()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def addresses(host: Any, port: Any, **how: int) -> list[Any]:
    """Resolve a host, as `Resolver.addresses` does."""
    return await RESOLVER.addresses(host, port, **how)


def install_resolver() -> None:
    """Make the running event loop resolve names with `RESOLVER`."""
    asyncio.get_running_loop().getaddrinfo = addresses  # type: ignore[method-assign]
