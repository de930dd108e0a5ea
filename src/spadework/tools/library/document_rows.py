"""Documents as rows of the tables, their texts packed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import zstandard

from spadework.tools.library.document import Document

COLUMNS = "url, title, markdown, published_at, uses, kind, changed_at, author"
_MADE = "sketch, used, defined, source, batch"
#: Adds a row (`row_of`) with what was made of the document; does nothing where its URL is already
#: there.
INSERT = (
    f"insert or ignore into documents ({COLUMNS}, {_MADE}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
    " ?, ?, ?)"
)
_COMPRESSION = 1


def row_of(document: Document) -> tuple[Any, ...]:
    """The columns of a document."""
    text = zstandard.compress(document.markdown.encode(errors="replace"), _COMPRESSION)
    dates = [
        moment.isoformat() if moment else None
        for moment in (document.published_at, document.changed_at)
    ]
    said = (document.url, document.title, text, dates[0], document.uses, document.kind, dates[1])
    return *said, document.author


def document_of(row: Sequence[Any]) -> Document:
    """The document of a row's columns."""
    url, title, text, published_at, uses, kind, changed_at, author = row
    return Document(
        url,
        title,
        zstandard.decompress(text).decode(),
        _moment(published_at),
        uses,
        kind,
        _moment(changed_at),
        author,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
