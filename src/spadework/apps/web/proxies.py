"""Reverse proxies that are trusted: from them alone a header is believed that names the user."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.types import Scope

from spadework.errors import SettingsError
from spadework.sessions.people.user import Scope as Permission
from spadework.sessions.people.user import User, user_name
from spadework.settings import Settings
from spadework.settings.users import networks_of

#: What a user whom a proxy names may do.
SCOPES: frozenset[Permission] = frozenset(("read", "ask"))


@dataclass(frozen=True)
class Proxies:
    """The networks of the proxies, and the header in which they name users ("" for none)."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    header: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Proxies:
        """Those of the settings. Raises SettingsError for a header nobody is trusted to set."""
        networks = networks_of(settings.trusted_proxies)
        if settings.user_header and not networks:
            raise SettingsError(
                "user_header needs trusted_proxies: the addresses of the proxies that set it."
            )
        return cls(networks, settings.user_header)

    def user(self, scope: Scope, headers: Headers) -> User | None:
        """The user whom a trusted proxy names, once and by a name; else None."""
        if not self.header or not self._trusts(scope):
            return None
        named = headers.getlist(self.header)
        with suppress(SettingsError):
            return User(user_name(named[0]), SCOPES) if len(named) == 1 else None
        return None

    def scheme(self, scope: Scope, headers: Headers) -> str:
        """What the client speaks: a proxy that is trusted, or on this machine, says so."""
        told = headers.get("x-forwarded-proto", "").strip().lower()
        own: str = scope["scheme"]
        peer = _peer(scope)
        near = self._trusts(scope) or (peer is not None and peer.is_loopback)
        return told if near and told in ("http", "https") else own

    def _trusts(self, scope: Scope) -> bool:
        peer = _peer(scope)
        return peer is not None and any(peer in network for network in self.networks)


#: No proxy is trusted.
NONE = Proxies()


def _peer(scope: Scope) -> IPv4Address | IPv6Address | None:
    """Who has really connected: servers of ours believe no header that says otherwise."""
    try:
        peer = ip_address((scope.get("client") or ("",))[0])
    except ValueError:
        return None
    mapped = peer.ipv4_mapped if isinstance(peer, IPv6Address) else None
    return mapped or peer
