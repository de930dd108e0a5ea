"""Addresses that may be fetched: public http(s) servers and hosts the owner allows."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import idna

from spadework.errors import NotAllowed

MAX_URL_CHARS = 2_000
#: IPv4 ranges without public sites (IANA special-purpose registry), and Azure's platform address.
# fmt: off
_REFUSED_V4 = tuple(IPv4Network(network) for network in (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
))
# fmt: on
#: Global IPv6, and special ranges inside it: Teredo, benchmarks, documentation.
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
#: IPv6 networks that wrap the IPv4 address packets go to, and the bits to its right.
_CARRIERS = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
#: Bits 64 to 96 of an ISATAP address in any network.
_ISATAP = (0x00005EFE, 0x02005EFE)
_IPV4_LIKE = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\]")
_PORTS = {"http": 80, "https": 443}


def is_public(address: str) -> bool:
    """Return whether an IP literal can be a public web server; False for anything else."""
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
    """Return whether `address` of `host` is public, or the owner allows either."""
    return is_owned(host, allow_hosts) or is_owned(address, allow_hosts) or is_public(address)


def is_owned(host: str, allow_hosts: Collection[str]) -> bool:
    """Return whether the owner allows a host or address, or a network that contains it."""
    if host in allow_hosts:
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in ip_network(word) for word in allow_hosts if "/" in word)


def check_url(url: str) -> str:
    """Return the URL as it will be requested: lower-case ASCII host, standard notation of
    addresses, no fragment or default port.

    Raises NotAllowed unless it is an http(s) URL with a host, without user, up to MAX_URL_CHARS.
    Whether its address is public is checked when it is resolved.
    """
    url = url.strip()
    if len(url) > MAX_URL_CHARS:
        raise NotAllowed(f"{printable_url(url)[:60]}… is longer than {MAX_URL_CHARS} characters.")
    parts = _split_web_url(url)
    if parts is None:
        raise NotAllowed(f"{printable_url(url)} is not an http or https URL.")
    if "@" in parts.netloc:
        raise NotAllowed("A URL with a user name or password is not fetched.")
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
    """Return whether `text` is a well-formed http(s) URL, wherever it leads."""
    try:
        check_url(text)
    except NotAllowed:
        return False
    return True


def _literal(host: str) -> str:
    """Return an IPv6 address as a URL's host. One with a zone is only meaningful on this
    machine.
    """
    try:
        address = IPv6Address(host)
    except ValueError:
        address = None
    if address is None or address.scope_id is not None:
        raise NotAllowed(f"[{printable_url(host)}] is not a host that can be reached.")
    return f"[{address}]"


def _name(host: str) -> str:
    """Return a host in the notation of `check_url`; "0x7f.1" and "2130706433" are 127.0.0.1."""
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
        name = name.lower().rstrip(".")
        if _IPV4_LIKE.fullmatch(name):
            return socket.inet_ntoa(socket.inet_aton(name))
    except (OSError, UnicodeError):
        name = ""
    if not _NAME.fullmatch(name) or name.rpartition(".")[2].isdigit():
        raise NotAllowed(f"{printable_url(host)} is not a host name.")
    return name


def printable_url(url: str) -> str:
    """Return a short URL for a message, without secrets (before "@", after "?")."""
    return url.partition("?")[0].rpartition("@")[2].removeprefix("//")[:120]
