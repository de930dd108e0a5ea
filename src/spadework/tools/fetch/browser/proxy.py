"""A loopback proxy that checks every request. It is the browser's only route to the network."""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Collection, Coroutine
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import httpcore

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import GuardedBackend, Resolve, check_url, is_public

MAX_CONNECTIONS = 64
_LINES = (files("spadework.tools.fetch.browser") / "trackers.txt").read_text("utf-8").split("\n")
_TRACKERS = frozenset(line for line in _LINES if line and not line.startswith("#"))


class Permission:
    """A browser context's permission to use the proxy. `refused` and `failed` map hosts to reasons.
    Internal hosts in `allow_hosts` can be reached only while the visited site is also internal.
    """

    def __init__(self, resolve: Resolve, allow_hosts: Collection[str], most_bytes: int) -> None:
        self.user, self.password = secrets.token_hex(8), secrets.token_urlsafe(24)
        self._backend = GuardedBackend(resolve, allow_hosts)
        self._strict = GuardedBackend(resolve)
        self._most_bytes = most_bytes
        self._site, self._inside = "", False
        self.begin("")

    def begin(self, site: str) -> None:
        """Start a visit to the host `site`, clearing the counters, refusals and failures."""
        if site != self._site:
            self._site, self._inside = site, False
        self.received = 0
        self.connections = 0
        self.refused: dict[str, str] = {}
        self.failed: dict[str, str] = {}

    @property
    def spent(self) -> bool:
        """True if the page has sent and received more bytes than allowed."""
        return self.received > self._most_bytes

    async def connect(self, host: str, port: int) -> httpcore.AsyncNetworkStream:
        """Connect to a host after checking its address. Raises NotAllowed or httpcore's errors."""
        if tracker(host) and not tracker(self._site):
            raise NotAllowed(f"{host} is a tracker and is not contacted.")
        try:
            if self.spent:
                raise NotAllowed("The page has loaded more bytes than allowed.")
            if self.connections >= MAX_CONNECTIONS:
                raise NotAllowed("The page makes more connections than allowed.")
            backend = self._backend if self._inside or host == self._site else self._strict
            stream = await backend.connect_tcp(host, port)
        except NotAllowed as error:
            self.refused[host] = str(error)
            raise
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            self.failed[host] = str(error)[:150].strip(" .") or "no answer"
            raise
        self.note(host, str(stream.get_extra_info("server_addr")[0]))
        return stream

    def note(self, host: str, address: str) -> None:
        """If `host` is the visited site, record from its IP `address` whether it is internal."""
        if host == self._site:
            self._inside = not is_public(address)


def tracker(host: str) -> bool:
    """Return whether a host serves only advertisements or trackers."""
    labels = host.split(".")
    return any(".".join(labels[n:]) in _TRACKERS for n in range(len(labels) - 1))


#: Hop-by-hop headers, which are never forwarded.
_OF_THE_HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"),
        *(b"proxy-authenticate", b"te", b"trailer", b"upgrade"),
    )
)
#: Audio and video file extensions. The proxy sees them only in unencrypted requests.
_MEDIA = re.compile(r"\.(?:mp4|webm|m3u8|mpd|mov|avi|mp3|m4a|ogg|wav|flac)(?:\?|$)", re.IGNORECASE)
_AUTHORITY_ENDS = re.compile(r"[/?#]")


class Unfit(Exception):
    """A malformed request, which no browser would send."""


@dataclass(frozen=True)
class Request:
    """A request to the proxy.
    - `target`: the path on the server, or "" for a tunnel.
    - `body`: the length of the body in bytes.
    """

    method: str
    host: str
    port: int
    target: str
    headers: tuple[bytes, ...]
    user: str = ""
    password: str = ""
    body: int = 0

    @property
    def tunnel(self) -> bool:
        """True if the request opens a tunnel, through which all bytes pass unchanged."""
        return self.method == "CONNECT"

    @property
    def media(self) -> bool:
        """True if the request is for audio or video."""
        return bool(_MEDIA.search(self.target))

    def onward(self) -> bytes:
        """Return the request head to send to the server."""
        first = f"{self.method} {self.target} HTTP/1.1".encode("latin-1")
        return b"\r\n".join([first, *_passed_on(self.headers), b"Connection: close", b"", b""])


def parse_request(head: bytes) -> Request:
    """Parse a request head, including its empty last line. Raises Unfit if it is malformed, and
    NotAllowed if its scheme or host is forbidden.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    try:
        method, url, version = first.decode("latin-1").split(" ")
    except ValueError:
        raise Unfit from None
    if not version.startswith("HTTP/1.") or not method.isalpha():
        raise Unfit
    user, password = _credentials(_header(lines, b"proxy-authorization"))
    host, port, target = _aim(method, url)
    length = _header(lines, b"content-length") or "0"
    if not length.isdecimal() or len(length) > 18 or _header(lines, b"transfer-encoding"):
        raise Unfit
    return Request(method, host, port, target, tuple(lines), user, password, int(length))


def answer_head(head: bytes) -> bytes:
    """Return a server's response head for the browser. 407 becomes 403: only we may send 407."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if first[8:13].strip() == b"407":
        first = b"HTTP/1.1 403 Forbidden"
    return b"\r\n".join([first, *_passed_on(tuple(lines)), b"Connection: close", b"", b""])


def status_of(head: bytes) -> int:
    """Return the status in a response head, or 0."""
    status = head[8:13].strip()[:3]
    return int(status) if status.isdigit() else 0


def _aim(method: str, url: str) -> tuple[str, int, str]:
    tunnel = method == "CONNECT"
    if not tunnel and not url.lower().startswith("http://"):
        raise NotAllowed("The browser may request only http and https URLs.")
    authority = url if tunnel else _AUTHORITY_ENDS.split(url[len("http://") :], maxsplit=1)[0]
    checked = urlsplit(check_url(f"http://{authority}/"))
    rest = "" if tunnel else url[len("http://") + len(authority) :]
    target = rest if tunnel or rest.startswith("/") else f"/{rest}"
    return (checked.hostname or "").strip("[]"), checked.port or 80, target


def _header(lines: list[bytes], name: bytes) -> str:
    found = [line.partition(b":")[2].strip() for line in lines if _name(line) == name]
    return b",".join(found).decode("latin-1")


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()


def _credentials(value: str) -> tuple[str, str]:
    scheme, _, token = value.partition(" ")
    try:
        user, _, password = base64.b64decode(token, validate=True).decode("latin-1").partition(":")
    except ValueError:
        return "", ""
    return (user, password) if scheme.lower() == "basic" else ("", "")


def _passed_on(lines: tuple[bytes, ...]) -> list[bytes]:
    kept: list[bytes] = []
    dropped = False
    for line in lines:
        if not line.startswith((b" ", b"\t")):
            dropped = _name(line) in _OF_THE_HOP
        if not dropped:
            kept.append(line)
    return kept


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
    """An HTTP proxy on 127.0.0.1 for browser contexts with a `Permission`."""

    def __init__(self) -> None:
        self._permissions: dict[str, Permission] = {}
        self._talks: set[asyncio.Task[Any]] = set()

    async def open(self) -> str:
        """Start the proxy and return its address."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", 0, limit=MAX_HEAD)
        return "http://{}:{}".format(*self._server.sockets[0].getsockname())

    async def aclose(self) -> None:
        """Close every connection."""
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def admit(self, permission: Permission) -> None:
        """Start accepting this permission's credentials."""
        self._permissions[permission.user] = permission

    def dismiss(self, permission: Permission) -> None:
        """Stop accepting this permission's credentials for new connections."""
        self._permissions.pop(permission.user, None)

    def _came(self, reader: StreamReader, writer: StreamWriter) -> None:
        talk = asyncio.create_task(self._talk(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except _BROKEN:
            pass  # the browser can handle a closed connection
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
    """Forward at most `body` bytes (None: any number) from the browser to the server. Return when
    the browser hangs up, sends more, or exceeds its byte limit.
    """
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
    while chunk := await server.read(_CHUNK, IDLE_SECONDS):
        permission.received += len(chunk)
        if permission.spent:
            return
        writer.write(chunk)
        await writer.drain()


async def _answer_down(
    server: httpcore.AsyncNetworkStream, writer: StreamWriter, permission: Permission
) -> None:
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
