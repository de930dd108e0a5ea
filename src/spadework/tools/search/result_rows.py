"""From the rows of a service's answer to hits."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spadework.tools.search.domain_filter import SHELF
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
    text: Any = ""


def number_rows(rows: Iterable[Row], provider: str, query: Query, limit: int) -> list[Hit]:
    """The first `limit` rows that are web pages or bring their text as hits, numbered from 1."""
    usable = [row for row in rows if row.text or is_web(row.url)]
    return [
        Hit(
            url=whole(row.url) if is_web(row.url) else document_url(provider, row.text),
            title=whole(row.title or ""),
            text=whole(row.text or ""),
            snippet=whole(row.snippet or "")[:SNIPPET_CHARS],
            position=position,
            provider=provider,
            query=query.text,
            publisher=whole(plain(row.publisher))[:PUBLISHER_CHARS],
            published_at=moment(row.date),
        )
        for position, row in enumerate(usable[:limit], 1)
    ]


def is_web(url: Any) -> bool:
    """Return whether something is the address of a web page."""
    return isinstance(url, str) and url.startswith(("http://", "https://"))


def document_url(provider: str, text: str) -> str:
    """Return an address for a text that a provider has given without one."""
    return f"{SHELF}{provider}/{hashlib.sha256(whole(text).encode()).hexdigest()[:16]}"


def whole(text: Any) -> str:
    """A text without halves of characters, which services leave and nothing can store."""
    return str(text).encode(errors="replace").decode()


def plain(marked: Any) -> str:
    """Text with HTML tags and references as one plain line; "" for what is no text."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split()) if isinstance(marked, str) else ""
