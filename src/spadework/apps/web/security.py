"""Who may speak to the server: its own name in `Host`, its own page as `Origin`, and the token
where one is asked.
"""

from __future__ import annotations

import hmac
import re
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spadework.settings import Settings
from spadework.tools.stores.page_store import write_atomically

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
TOKEN_FILE = ".serve-token"
COOKIE = "spadework_token"
_TOKEN = re.compile(r"[\w-]{32,}")


@dataclass(frozen=True)
class Access:
    """The token that every request must bring ("" for none), and the names the server answers to
    besides addresses and this machine's.
    """

    token: str = ""
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings, host: str = "127.0.0.1") -> Access:
        """The access that fits where the server listens: beyond loopback, and where the setting
        `ask_token` says so, a token is asked, made once and kept in the home folder.
        """
        own = frozenset(
            {
                "localhost",
                socket.gethostname().lower(),
                host.lower(),
                *(name.lower() for name in settings.serve_hosts),
            }
        )
        if settings.token:
            return cls(settings.token.get_secret_value(), own)
        asked = settings.ask_token or not is_loopback(host)
        return cls(_kept_token(settings.home) if asked else "", own)

    def knows_host(self, header: str) -> bool:
        """Whether a `Host` header names this server. A name that somebody points at us (DNS
        rebinding) is none of ours.
        """
        try:
            name = urlsplit(f"//{header}").hostname or ""
            port = urlsplit(f"//{header}").port
        except ValueError:
            return False
        return (port is None or port > 0) and (name in self.hosts or _is_address(name))

    def is_token(self, given: str) -> bool:
        """Whether the token is right, compared in constant time."""
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


class Gate:
    """Lets a request through to the application, or refuses it in one sentence."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            with_headers = _with_headers(send)
            await (self._refusal(scope) or self._app)(scope, receive, with_headers)
        # A WebSocket is not answered: nothing here speaks it.

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._access.knows_host(headers.get("host", "")):
            return PlainTextResponse(
                "This server does not answer to that host name. Set SPADEWORK_SERVE_HOSTS to add"
                " one.\n",
                421,
            )
        if "origin" in headers and not _same_origin(
            headers["origin"], scope["scheme"], headers["host"]
        ):
            return PlainTextResponse("This request comes from another site and was refused.\n", 403)
        return self._without_token(scope, headers) if self._access.token else None

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._access.is_token(bearer.strip()):
            return None
        if self._access.is_token(_cookie(headers, _cookie_name(scope))):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] == "GET" and self._access.is_token(dict(query).get("token", "")):
            return self._signed_in(scope, query)
        said = (
            "A token is needed: open the address that the server printed when it started, or send"
            " it as `Authorization: Bearer`.\n"
        )
        return PlainTextResponse(said, 401, {"WWW-Authenticate": "Bearer"})

    def _signed_in(self, scope: Scope, query: list[tuple[str, str]]) -> Response:
        """Keep the token in a cookie that no script reads, and take it out of the address. The path
        is our own: never `//elsewhere`.
        """
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        response = RedirectResponse(
            "/" + scope["path"].lstrip("/\\") + (f"?{rest}" if rest else ""), 303
        )
        secure = scope["scheme"] == "https"
        response.set_cookie(
            _cookie_name(scope),
            self._access.token,
            httponly=True,
            samesite="strict",
            secure=secure,
            max_age=31_536_000,
        )
        return response


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(origin: str, scheme: str, host: str) -> bool:
    """Whether a page of this server sends the request. A proxy in front may speak https where we
    hear http.
    """
    parts = urlsplit(origin)
    return parts.scheme in {scheme, "https"} and parts.netloc.lower() == host.lower()


def _cookie_name(scope: Scope) -> str:
    """Cookies are shared by all ports of a host; servers of ours must not overwrite each
    other's.
    """
    return f"{COOKIE}_{(scope.get('server') or ('', 0))[1]}"


def _cookie(headers: Headers, name: str) -> str:
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def _kept_token(home: Path) -> str:
    """The token of this home, made at its first use and readable by its owner only: it outlives the
    server, as its pages do.
    """
    path = home / TOKEN_FILE
    with suppress(FileNotFoundError, UnicodeDecodeError):
        if _TOKEN.fullmatch(kept := path.read_text(encoding="ascii").strip()):
            return kept
    # None yet, or what is left of a file that was cut off: an empty token would open the door.
    token = secrets.token_urlsafe(32)
    write_atomically(path, token.encode())
    return token


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
