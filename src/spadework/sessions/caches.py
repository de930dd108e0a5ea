"""What sessions share in their home, and would make anew: which of it is broken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from spadework.sessions.file_check import Broken, database_fault, no_file, open_database

_JSON = ("endings.json", "cache/hosts.json")
#: Databases, and with each of them what is of no use without it.
_DATABASES = (
    ("cache/searches.sqlite", "cache/searches.sqlite"),
    ("knowledge/pages.sqlite", "knowledge"),
)


def broken_caches(home: Path) -> Iterator[Broken]:
    """The files and folders of a home that are broken. A damaged page of the cache is not told of:
    it is fetched anew.
    """
    for name in _JSON:
        if why := _json(home / name):
            yield Broken(name, why)
    libraries = sorted((home / "library").glob("*/documents.db"))
    of_libraries = (
        (f"library/{path.parent.name}/{path.name}", f"library/{path.parent.name}")
        for path in libraries
    )
    for name, whole in (*_DATABASES, *of_libraries):
        if why := _database(home / name):
            yield Broken(whole, why)


def _json(path: Path) -> str:
    if (fault := no_file(path)) or not path.exists():
        return fault
    try:
        told = json.loads(path.read_bytes())
    except OSError as error:
        return error.strerror or "it cannot be read"
    except (ValueError, RecursionError):
        return "it is no JSON"
    return "" if isinstance(told, dict) else "it is no object"


def _database(path: Path) -> str:
    if (fault := no_file(path)) or not path.exists() or not database_fault(path):
        return fault
    # Somebody may just be writing to it, which is seen only by who waits for them.
    try:
        with closing(open_database(path, live=True)) as db:
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        return ""  # in use
    except (sqlite3.Error, UnicodeDecodeError) as error:
        said = str(error)
    return "" if said == "ok" else " ".join(str(said).split())[:150]
