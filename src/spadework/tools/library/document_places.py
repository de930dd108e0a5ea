"""Where a document lies, as terms of the index: its collection, and every folder above it."""

from __future__ import annotations

import re
from urllib.parse import unquote

_VERSION = re.compile(r"-v?\d[^-]*$")

#: Folders deeper than this are one place.
_DEPTH = 12


def places(url: str) -> list[str]:
    """The places of a document: library://Notes/Soup/Onion.md lies in notes, /soup and
    /soup/onion.md.

    A package also goes by its name without the version, a saved site by the domains above its own.
    """
    site, _, path = unquote(url.partition("://")[2]).lower().partition("/")
    parts = path.split("/")
    ends = [*range(1, min(len(parts), _DEPTH)), len(parts)]
    name = _VERSION.sub("", site)
    labels = site.split(".") if name == site else []
    above = [".".join(labels[at:]) for at in range(1, len(labels) - 1)]
    return [*dict.fromkeys([site, name, *above]), *("/" + "/".join(parts[:end]) for end in ends)]
