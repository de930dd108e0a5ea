"""Reading a built library's folder: texts in `documents.db` beside the full-text `index/`.

A folder is filled under another name, moved into place in one step, and never changed after that.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spadework.tools.library.document import Document, Skipped
from spadework.tools.library.document_tables import COLUMNS, document_of, open_to_read


@dataclass(frozen=True)
class Stored:
    """A document with the sketch of its text."""

    document: Document
    sketch: bytes


class StoreReader:
    """Reads the texts of a built folder; safe in several threads."""

    def __init__(self, folder: Path) -> None:
        self._db = open_to_read(folder)
        self._lock = threading.Lock()

    def count(self) -> int:
        """How many documents there are."""
        return int(self._rows("select count(*) from documents")[0][0])

    def by_url(self, url: str) -> Document | None:
        """The document at a URL."""
        rows = self._rows(f"select {COLUMNS} from documents where url = ?", url)
        return document_of(rows[0]) if rows else None

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, Stored]:
        """Documents by their numbers."""
        marks = ",".join("?" * len(numbers))
        rows = self._rows(
            f"select id, sketch, {COLUMNS} from documents where id in ({marks})", *numbers
        )
        return {number: Stored(document_of(row), sketch) for number, sketch, *row in rows}

    def numbers(self) -> list[int]:
        """The numbers of all documents."""
        return [number for (number,) in self._rows("select id from documents")]

    def most_used(self, packages: Collection[str], most: int) -> list[int]:
        """The numbers of the documents of some packages that the code of others uses most."""
        marks = ",".join("?" * len(packages))
        query = (
            f"select distinct document from used where package in ({marks}) order by uses desc"
            " limit ?"
        )
        return [row[0] for row in self._rows(query, *packages, most)]

    def skipped(self) -> list[Skipped]:
        """All that could not be read, by URL."""
        rows = self._rows("select url, reason from skipped order by url")
        return [Skipped(*row) for row in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()
