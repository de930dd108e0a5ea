"""Keeping a search to some domains or away from them, whatever the provider does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from spadework.tools.web.urls import host_of
from spadework.values import Query

#: Operators in one query at most; engines refuse long ones.
MOST_SITES = 5
#: How the address of a document of a library begins.
SHELF = "library://"
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+")


def domains(named: Iterable[str]) -> list[str]:
    """The domains among these texts, each once: `https://www.Example.org/x` is example.org."""
    hosts = (text.strip().lower()[:300].rpartition("://")[2] for text in named)
    found = (re.split(r"[/:?#]", host, maxsplit=1)[0].removeprefix("www.") for host in hosts)
    return list(dict.fromkeys(domain for domain in found if _DOMAIN.fullmatch(domain)))


def with_sites(query: Query, text: str = "") -> str:
    """The query's text (or `text`) with `site:` operators for its domains."""
    inside = " OR ".join(f"site:{domain}" for domain in domains(query.include_domains)[:MOST_SITES])
    outside = " ".join(f"-site:{domain}" for domain in domains(query.exclude_domains)[:MOST_SITES])
    either = f"({inside})" if " OR " in inside else inside
    return " ".join(filter(None, (text or query.text, either, outside)))


def is_wanted(query: Query, url: str) -> bool:
    """Whether a page may be a result. Library documents are nobody's domain: they may, unless
    shelves are named by the beginnings of their addresses (`library://notes/2026`).
    """
    if not url.startswith(("http://", "https://")):
        inside, outside = _shelves(query.include_domains), _shelves(query.exclude_domains)
        return (not inside or url.startswith(inside)) and not url.startswith(outside)
    host = host_of(url).lower()
    within, without = domains(query.include_domains), domains(query.exclude_domains)
    return (not within or _under(host, within)) and not _under(host, without)


def _shelves(named: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in named if text.strip().startswith(SHELF))


def _under(host: str, named: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in named)
