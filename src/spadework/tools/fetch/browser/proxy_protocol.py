"""Heads of requests and responses between browser, proxy and server."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import check_url

#: Hop-by-hop headers, never forwarded: each connection carries one request in one protocol.
_OF_THE_HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"),
        *(b"proxy-authenticate", b"te", b"trailer", b"upgrade"),
    )
)
#: Audio and video by extension. Encrypted ones count against the page's allowance.
_MEDIA = re.compile(r"\.(?:mp4|webm|m3u8|mpd|mov|avi|mp3|m4a|ogg|wav|flac)(?:\?|$)", re.IGNORECASE)
_AUTHORITY_ENDS = re.compile(r"[/?#]")


class Unfit(Exception):
    """A request that no browser sends to a proxy."""


@dataclass(frozen=True)
class Request:
    """A request. `target` is the path on the server, "" for a tunnel; `body` its length."""

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
        """True if the following bytes pass unchanged: TLS or a WebSocket."""
        return self.method == "CONNECT"

    @property
    def media(self) -> bool:
        """True for audio and video, which have no text."""
        return bool(_MEDIA.search(self.target))

    def onward(self) -> bytes:
        """Return the head for the server."""
        first = f"{self.method} {self.target} HTTP/1.1".encode("latin-1")
        return b"\r\n".join([first, *_passed_on(self.headers), b"Connection: close", b"", b""])


def parse_request(head: bytes) -> Request:
    """Parse a head with its empty line. Raises Unfit, or NotAllowed for its scheme or host."""
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
    """Return a response head for the browser. 407 becomes 403: it would look like the proxy's
    own.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if first[8:13].strip() == b"407":
        first = b"HTTP/1.1 403 Forbidden"
    return b"\r\n".join([first, *_passed_on(tuple(lines)), b"Connection: close", b"", b""])


def status_of(head: bytes) -> int:
    """Return a response's status, 0 if it has none."""
    status = head[8:13].strip()[:3]
    return int(status) if status.isdigit() else 0


def _aim(method: str, url: str) -> tuple[str, int, str]:
    """Return host, port and path of a request, the host in the guard's notation."""
    tunnel = method == "CONNECT"
    if not tunnel and not url.lower().startswith("http://"):
        raise NotAllowed("The browser may ask for http and https alone.")
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
    """Return the end-to-end header lines; a folded line shares the fate of the one before it."""
    kept: list[bytes] = []
    dropped = False
    for line in lines:
        if not line.startswith((b" ", b"\t")):
            dropped = _name(line) in _OF_THE_HOP
        if not dropped:
            kept.append(line)
    return kept
