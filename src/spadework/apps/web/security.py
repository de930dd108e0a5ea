"""Control access by `Host` and `Origin` headers, tokens and trusted proxies. A request's method
and path decide which scope it needs.
"""

from __future__ import annotations

import hmac
import re
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spadework.errors import DiskFailed, SettingsError
from spadework.sessions.users import NOBODY, OWNER, People, Scope as Permission, User, user_name
from spadework.settings import Settings
from spadework.settings.sources import networks_of
from spadework.tools.stores.private_files import write_atomically

#: Key in the ASGI scope under which the user is stored.
USER = "spadework.user"
#: Paths of the health probes, which anyone may request.
OPEN = frozenset({"/healthz", "/readyz"})
#: Path of the MCP tools. Each tool checks the access scope that it needs.
MCP = "/mcp"
_ADMIN = ("/settings", "/metrics")


def user_of(request: Scope) -> User:
    """Return the request's user, or the owner if none is set."""
    user: User = request.get(USER, OWNER)
    return user


def needed(method: str, path: str) -> Permission:
    """Return the scope ("read", "ask" or "admin") that a user needs to make a request."""
    if any(path == one or path.startswith(f"{one}/") for one in _ADMIN):
        return "admin"
    return "read" if method in ("GET", "HEAD") else "ask"


def refusal(user: User, method: str, path: str) -> Response | None:
    """Return a 403 response if the user lacks the required scope, else None."""
    scope = needed(method, path)
    if user.may(scope) or (path == MCP and (user.may("read") or user.may("ask"))):
        return None
    return PlainTextResponse(
        f"Your token does not have the scope {scope}, required for this request.\n", 403
    )


#: Scopes granted to users whom a trusted proxy names.
SCOPES: frozenset[Permission] = frozenset(("read", "ask"))


@dataclass(frozen=True)
class Proxies:
    """The networks of trusted proxies and the `header` in which they name the user ("" if none)."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    header: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Proxies:
        """Return the trusted proxies. Raises SettingsError if only a user header is set."""
        networks = networks_of(settings.trusted_proxies)
        if settings.user_header and not networks:
            raise SettingsError(
                "user_header requires trusted_proxies. Set it to the addresses of the proxies that"
                " send the header."
            )
        return cls(networks, settings.user_header)

    def user(self, scope: Scope, headers: Headers) -> User | None:
        """Return the user that a trusted proxy names in a single valid header, or else None."""
        if not self.header or not self._trusts(scope):
            return None
        named = headers.getlist(self.header)
        with suppress(SettingsError):
            return User(user_name(named[0]), SCOPES) if len(named) == 1 else None
        return None

    def scheme(self, scope: Scope, headers: Headers) -> str:
        """Return the URL scheme that the client used, as reported by any trusted or local proxy."""
        told = headers.get("x-forwarded-proto", "").strip().lower()
        own: str = scope["scheme"]
        peer = _peer(scope)
        near = self._trusts(scope) or (peer is not None and peer.is_loopback)
        return told if near and told in ("http", "https") else own

    def _trusts(self, scope: Scope) -> bool:
        peer = _peer(scope)
        return peer is not None and any(peer in network for network in self.networks)


NONE = Proxies()


def _peer(scope: Scope) -> IPv4Address | IPv6Address | None:
    """Return the direct peer's address, ignoring forwarded addresses."""
    try:
        peer = ip_address((scope.get("client") or ("",))[0])
    except ValueError:
        return None
    mapped = peer.ipv4_mapped if isinstance(peer, IPv6Address) else None
    return mapped or peer


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
RETRY_SECONDS = "5"
_TOKEN = re.compile(r"[\w-]{32,}")


@dataclass(frozen=True)
class Access:
    """A server's access rules. `token` is the owner's token, or "" if there is none."""

    token: str = ""
    hosts: frozenset[str] = frozenset()
    people: People | None = None
    proxies: Proxies = NONE

    @classmethod
    def of(cls, settings: Settings, host: str = "127.0.0.1") -> Access:
        """Return the access rules of a server at `host`. If the server needs a token and the
        settings have none, use the one stored in `settings.home`, creating it if missing. Raises
        SettingsError.
        """
        names = ("localhost", socket.gethostname(), host, *settings.serve_hosts)
        own = frozenset(name.lower() for name in names)
        people = People(settings)
        access = cls("", own, people, Proxies.of(settings))
        asked = people.there or not is_loopback(host)
        if settings.token:
            return replace(access, token=settings.token.get_secret_value())
        return replace(access, token=_kept_token(settings.home)) if asked else access

    def knows_host(self, header: str) -> bool:
        """Return whether a `Host` header is in `hosts` or an IP address (against DNS rebinding)."""
        try:
            name = urlsplit(f"//{header}").hostname or ""
            port = urlsplit(f"//{header}").port
        except ValueError:
            return False
        return (port is None or port > 0) and (name in self.hosts or _is_address(name))

    @property
    def asks(self) -> bool:
        """True if clients must authenticate."""
        return bool(self.token) or (self.people is not None and self.people.there)

    def user_of(self, given: str) -> User | None:
        """Return the user to whom a token belongs, or None. Comparison takes constant time."""
        if self.token and hmac.compare_digest(given.encode(errors="replace"), self.token.encode()):
            return OWNER
        return self.people.tokens.user_of(given) if self.people and given else None


class Gate:
    """ASGI middleware that refuses unauthorized requests."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = await self._refuse_unverified(scope) or self._refusal(scope)
            await (refused or self._app)(scope, receive, _with_headers(send))
        # WebSockets are not supported.

    async def _refuse_unverified(self, scope: Scope) -> Response | None:
        if self._access.people is None or scope["path"] in OPEN:
            return None
        try:
            await self._access.people.look()
        except (DiskFailed, SettingsError) as error:
            return PlainTextResponse(f"{error}\n", 503, {"Retry-After": RETRY_SECONDS})
        return None

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._access.knows_host(headers.get("host", "")):
            return PlainTextResponse(
                "This server does not accept requests for that host name. To accept them, add the"
                " name to SPADEWORK_SERVE_HOSTS.\n",
                421,
            )
        if "origin" in headers and not _same_origin(
            headers["origin"], scope["scheme"], headers["host"]
        ):
            return PlainTextResponse("This request comes from another site and was refused.\n", 403)
        scope["scheme"] = self._access.proxies.scheme(scope, headers)
        if scope["path"] in OPEN:
            scope[USER] = NOBODY
            return None
        return self._refuse_user(scope, headers) if self._access.asks else None

    def _refuse_user(self, scope: Scope, headers: Headers) -> Response | None:
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if kind.lower() == "bearer" else ""
        cookies = cookie_parser(headers.get("cookie", ""))
        user = (
            self._access.user_of(given)
            or self._access.proxies.user(scope, headers)
            or self._access.user_of(cookies.get(_cookie_name(scope), ""))
        )
        if user is not None:
            scope[USER] = user
            return refusal(user, scope["method"], scope["path"])
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = dict(query).get("token", "")
        if scope["method"] == "GET" and self._access.user_of(token):
            return self._signed_in(scope, query, token)
        said = (
            "A token is needed. Open the address that the server printed when it started, or send"
            " the token as `Authorization: Bearer TOKEN`.\n"
        )
        return PlainTextResponse(said, 401, {"WWW-Authenticate": "Bearer"})

    def _signed_in(self, scope: Scope, query: list[tuple[str, str]], token: str) -> Response:
        """Move the token from the URL to an HTTP-only cookie."""
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # a local path, never `//elsewhere`
        response = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        secure = scope["scheme"] == "https"
        response.set_cookie(
            _cookie_name(scope),
            token,
            httponly=True,
            samesite="strict",
            secure=secure,
            max_age=31_536_000,
        )
        return response


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server at `host`."""
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(origin: str, scheme: str, host: str) -> bool:
    # Behind a proxy, clients may use https although we see http.
    return origin.lower() in (f"{scheme}://{host}".lower(), f"https://{host}".lower())


def _cookie_name(scope: Scope) -> str:
    # All ports of a host share cookies, so each server needs its own cookie name.
    return f"{COOKIE}_{(scope.get('server') or ('', 0))[1]}"


def _kept_token(home: Path) -> str:
    path = home / TOKEN_FILE
    with suppress(FileNotFoundError, UnicodeDecodeError):
        if _TOKEN.fullmatch(kept := path.read_text(encoding="ascii").strip()):
            return kept
    # Replace a missing or invalid token, because an empty token would grant access to anyone.
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
