"""From the rows of a service's answer to hits."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spadework.tools.text.dates import moment
from spadework.values import Hit, Query

#: A snippet is cut here; some services give a whole abstract.
SNIPPET_CHARS = 2_000
#: The name of a publisher is cut here.
PUBLISHER_CHARS = 120
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Row:
    """One result as a service wrote it, unchecked: `date` as text, `publisher` as a name."""

    url: Any
    title: Any = ""
    snippet: Any = ""
    date: Any = None
    publisher: Any = ""


def number_rows(rows: Iterable[Row], provider: str, query: Query, limit: int) -> list[Hit]:
    """The first `limit` rows that are web pages as hits, numbered from 1."""
    web = ("http://", "https://")
    usable = [row for row in rows if isinstance(row.url, str) and row.url.startswith(web)]
    return [
        Hit(
            url=whole(row.url),
            title=whole(row.title or ""),
            snippet=whole(row.snippet or "")[:SNIPPET_CHARS],
            position=position,
            provider=provider,
            query=query.text,
            publisher=whole(plain(row.publisher))[:PUBLISHER_CHARS],
            published_at=moment(row.date),
        )
        for position, row in enumerate(usable[:limit], 1)
    ]


def whole(text: Any) -> str:
    """A text without halves of characters, which services leave and nothing can store."""
    return str(text).encode(errors="replace").decode()


def plain(marked: Any) -> str:
    """Text with HTML tags and references as one plain line; "" for what is no text."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split()) if isinstance(marked, str) else ""
