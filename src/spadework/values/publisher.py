"""The publisher of a page, shown with its domain."""

from __future__ import annotations

import re

PUBLISHER_CHARS = 80
_SIGN = re.compile(r"[\W_]+")
#: Names that are addresses repeat the host, and would be links.
_ADDRESS = re.compile(r"://|^\S+\.[a-z]{2,}(?:/\S*)?$", re.IGNORECASE)


def tell_beside(publisher: str, domain: str) -> str:
    """Return the publisher on one line, "" if the domain says it already: not *Reuters* at
    reuters.com.
    """
    name = " ".join(publisher.split())[:PUBLISHER_CHARS].strip()
    if not name or _ADDRESS.search(name):
        return ""
    return "" if _letters(name) in _letters(domain) else name


def _letters(text: str) -> str:
    return _SIGN.sub("", text.lower())
