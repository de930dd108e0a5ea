"""What sessions share in their home, and would make anew: which of it is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from spadework.sessions.file_check import Broken, database_fault, fault_in, no_file

_JSON = ("endings.json", "cache/hosts.json")
#: Databases, and with each of them what is of no use without it.
_DATABASES = (
    ("cache/searches.sqlite", "cache/searches.sqlite"),
    ("knowledge/pages.sqlite", "knowledge"),
)
_INDEX = "documents.db"


def broken_caches(home: Path) -> Iterator[Broken]:
    """What is broken in a home, but for damaged pages of the cache: they are fetched anew."""
    for name in _JSON:
        if why := fault_in(home / name, _json):
            yield Broken(name, why)
    libraries = (f"library/{path.parent.name}" for path in (home / "library").glob(f"*/{_INDEX}"))
    of_libraries = ((f"{whole}/{_INDEX}", whole) for whole in sorted(libraries))
    for name, whole in (*_DATABASES, *of_libraries):
        path = home / name
        why = no_file(path)
        if not why and path.exists() and database_fault(path):
            # Somebody may just be writing to it, which is seen only by who waits for them.
            why = database_fault(path, live=True)
        if why:
            yield Broken(whole, why)


def _json(data: bytes) -> str:
    try:
        return "" if isinstance(json.loads(data), dict) else "it is no object"
    except (ValueError, RecursionError):
        return "it is no JSON"
