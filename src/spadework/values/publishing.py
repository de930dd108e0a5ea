"""Who published a page, where that says more than its host: the *Annals of Harbours* at
pubmed.ncbi.nlm.nih.gov, but not *Reuters* at reuters.com.
"""

from __future__ import annotations

import re

PUBLISHER_CHARS = 80
_SIGN = re.compile(r"[\W_]+")
#: Names that are addresses say nothing that the host does not, and would be links.
_ADDRESS = re.compile(r"://|^\S+\.[a-z]{2,}(?:/\S*)?$", re.IGNORECASE)


def beside(publisher: str, domain: str) -> str:
    """The publisher on one line, "" where the domain says as much."""
    name = " ".join(publisher.split())[:PUBLISHER_CHARS].strip()
    if not name or _ADDRESS.search(name):
        return ""
    return "" if _letters(name) in _letters(domain) else name


def _letters(text: str) -> str:
    return _SIGN.sub("", text.lower())
