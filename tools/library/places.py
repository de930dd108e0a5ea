"""Where a document lies, as terms of the index: its collection, and every folder above it."""

from __future__ import annotations

from urllib.parse import unquote

#: Folders deeper than this are one place.
_DEPTH = 12


def places(url: str) -> list[str]:
    """The places of a document: library://Notes/Soup/Onion.md lies in notes, /soup and /soup/onion.md."""
    site, _, path = unquote(url.partition("://")[2]).lower().partition("/")
    parts = path.split("/")
    ends = [*range(1, min(len(parts), _DEPTH)), len(parts)]
    return [site, *("/" + "/".join(parts[:end]) for end in ends)]
