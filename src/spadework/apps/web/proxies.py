"""Trusted reverse proxies, the only ones whose user header is believed."""

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
from spadework.settings.interfaces import networks_of

#: Scopes of a user named by a proxy.
SCOPES: frozenset[Permission] = frozenset(("read", "ask"))


@dataclass(frozen=True)
class Proxies:
    """The networks of the proxies, and their user header ("" for none)."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    header: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Proxies:
        """Return the settings' proxies. Raises SettingsError for a header without trusted
        proxies.
        """
        networks = networks_of(settings.trusted_proxies)
        if settings.user_header and not networks:
            raise SettingsError(
                "user_header needs trusted_proxies: the addresses of the proxies that set it."
            )
        return cls(networks, settings.user_header)

    def user(self, scope: Scope, headers: Headers) -> User | None:
        """Return the user named by a trusted proxy, if valid and unique; else None."""
        if not self.header or not self._trusts(scope):
            return None
        named = headers.getlist(self.header)
        with suppress(SettingsError):
            return User(user_name(named[0]), SCOPES) if len(named) == 1 else None
        return None

    def scheme(self, scope: Scope, headers: Headers) -> str:
        """Return the client's scheme, as reported by a trusted or local proxy."""
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
    """Return the actual peer: our servers ignore forwarded addresses."""
    try:
        peer = ip_address((scope.get("client") or ("",))[0])
    except ValueError:
        return None
    mapped = peer.ipv4_mapped if isinstance(peer, IPv6Address) else None
    return mapped or peer
