"""Registered domains by the public suffix list in the package `tld`; nothing is downloaded."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import SplitResult

from tld import get_fld
from tld.utils import MozillaTLDSourceParser


class _Installed(MozillaTLDSourceParser):
    """The installed list; the package would otherwise try to download one."""

    uid = "spadework"

    @classmethod
    def update_tld_names(cls, fail_silently: bool = False) -> bool:
        return False


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """Return the registered domain of a lower-case host. IP addresses and names without a dot are
    returned unchanged; under an unknown suffix it is the last two labels.
    """
    if is_address(host) or host.rpartition(".")[2].isdigit() or "." not in host:
        return host
    known = get_fld(
        SplitResult("http", host, "", "", ""), fail_silently=True, parser_class=_Installed
    )
    return str(known or ".".join(host.split(".")[-2:]))


def is_address(host: str) -> bool:
    """Return whether a host is an IP address rather than a name."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


# Load the list at import: a file must not be read in the event loop.
_Installed.get_tld_names()
