"""Registered domains, by the list that the package `tld` installs; nothing is downloaded."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import SplitResult

from tld import get_fld
from tld.utils import MozillaTLDSourceParser


class _Installed(MozillaTLDSourceParser):
    """The list as installed: the package would ask the web for a file it cannot read."""

    uid = "spadework"

    @classmethod
    def update_tld_names(cls, fail_silently: bool = False) -> bool:
        return False


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """The name under a public suffix, of a lower-case host; an IP address, or a name without a dot,
    itself; under an unknown suffix, as the list says, the last two labels.
    """
    if is_address(host) or host.rpartition(".")[2].isdigit() or "." not in host:
        return host
    known = get_fld(
        SplitResult("http", host, "", "", ""), fail_silently=True, parser_class=_Installed
    )
    return str(known or ".".join(host.split(".")[-2:]))


def is_address(host: str) -> bool:
    """Whether a host is an IP address rather than a name."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


# The list is read here, once, since a file must not be read in the event loop.
_Installed.get_tld_names()
