"""Conversion of a service's or tool's results to hits."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from spadework.tools.search.search_filters import SHELF
from spadework.tools.text.quantities import moment
from spadework.values import Hit, Query

#: Snippets are cut here; some services return a whole abstract.
SNIPPET_CHARS = 2_000
PUBLISHER_CHARS = 120
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Row:
    """One unvalidated result: `date` as text, `publisher` as a name."""

    url: Any
    title: Any = ""
    snippet: Any = ""
    date: Any = None
    publisher: Any = ""
    text: Any = ""


def number_rows(rows: Iterable[Row], provider: str, query: Query, limit: int) -> list[Hit]:
    """Return the first `limit` rows that are web pages or include text, as hits numbered from 1."""
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
    """Return whether something is a web address."""
    return isinstance(url, str) and url.startswith(("http://", "https://"))


def document_url(provider: str, text: str) -> str:
    """Return an address for a text that came without one."""
    return f"{SHELF}{provider}/{hashlib.sha256(whole(text).encode()).hexdigest()[:16]}"


def whole(text: Any) -> str:
    """Return the text without lone surrogates, which cannot be stored."""
    return str(text).encode(errors="replace").decode()


def plain(marked: Any) -> str:
    """Return text without HTML tags and references, on one line; "" if it is not text."""
    return " ".join(html.unescape(_TAG.sub("", marked)).split()) if isinstance(marked, str) else ""


#: Lower-case names of a hit's fields; the first one present counts.
_URL = ("url", "link", "href", "source", "uri", "entry id")
_TITLE = ("title", "name")
_SNIPPET = ("snippet", "content", "body", "description", "summary", "text", "page_content")
_TEXT = ("page_content", "raw_content")
_DATE = (
    *("published_at", "published_date", "publish_date", "publisheddate"),
    *("page_age", "date", "published"),
)
_PUBLISHER = ("publisher", "journal", "site_name", "sitename")
#: Names of an object's list of results.
_LISTS = ("results", "result", "organic", "news", "web", "items", "hits", "documents", "data")
_DEEP = 3
#: Maximum characters of a Python literal: parsing takes a hundred times that memory.
_MOST_CHARS = 1_000_000
_LINK = re.compile(
    r"\[(?P<title>[^\[\]\n]{1,300})\]\((?P<url>https?://[^\s()<>]+)[^()\n]{0,300}\)|(?P<bare>https?://[^\s<>\"')\]]+)"
)
_MARKS = re.compile(
    r"^\W*(?:\d{1,3}[.)]\s*)?(?:(?P<label>title|url|link|description|snippet|summary|content|text)\W*:)?\W*",
    re.IGNORECASE,
)


def find_list(answer: Any, deep: int = _DEEP) -> list[Any] | None:
    """Return the results in a response (a list, JSON or Python text of one, an object holding one,
    or a message with an artifact), or None.
    """
    if artifact := getattr(answer, "artifact", None):
        answer = artifact
    elif not isinstance(answer, list | dict | str):
        answer = getattr(answer, "content", None)
    if isinstance(answer, str):
        answer = _parse(answer)
    if isinstance(answer, list):
        return answer
    if not isinstance(answer, dict) or not deep:
        return None
    listed = (find_list(answer.get(name), deep - 1) for name in _LISTS)
    return next((found for found in listed if found is not None), None)


def _parse(text: str) -> Any:
    """Parse a text as JSON or a Python literal; None if neither."""
    for read in (json.loads, ast.literal_eval) if len(text) <= _MOST_CHARS else (json.loads,):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return read(text.strip())
    return None


def row(result: Any) -> Row:
    """Convert a mapping, or an object with `metadata` such as LangChain's Document."""
    fields = result if isinstance(result, Mapping) else getattr(result, "metadata", {})
    given = fields if isinstance(fields, Mapping) else {}
    known = {str(name).lower(): value for name, value in given.items()}
    known.setdefault("page_content", getattr(result, "page_content", ""))
    url, title, snippet, date, publisher, text = (
        next((known[name] for name in names if known.get(name)), None)
        for names in (_URL, _TITLE, _SNIPPET, _DATE, _PUBLISHER, _TEXT)
    )
    if publisher is None and url != known.get("source"):
        publisher = known.get("source")
    if title is None and text and isinstance(url, str):
        title = url.rstrip("/").rpartition("/")[2]
    return Row(url, title, snippet, None if date is None else str(date), publisher, text)


def find_links(text: str) -> list[Row]:
    """Return the distinct links of a text: Markdown links, or addresses below their titles."""
    found = list(_LINK.finditer(text))
    made: dict[str, Row] = {}
    for n, match in enumerate(found):
        url = (match["url"] or match["bare"]).rstrip(".,;:")
        begins = found[n - 1].end() if n else 0
        ends = found[n + 1].start() if n + 1 < len(found) else len(text)
        before = text[begins : match.start()].rpartition("\n\n")[2].splitlines()
        after = text[match.end() : ends].partition("\n\n")[0].splitlines()
        labelled = dict(filter(None, map(_split_label, [*before, *after])))
        title = (
            match["title"]
            or labelled.pop("title", "")
            or next((words for words in map(_plain, reversed(before)) if words), "")
        )
        snippet = " ".join(labelled.values()) or " ".join(filter(None, map(_plain, after)))
        made.setdefault(url, Row(url, title, snippet))
    return list(made.values())


def _plain(line: str) -> str:
    return line[_MARKS.match(line).end() :].strip()  # type: ignore[union-attr]  # it always matches


def _split_label(line: str) -> tuple[str, str] | None:
    """Split a line into its label, such as "title", and the rest; None without a label."""
    found, words = _MARKS.match(line), _plain(line)
    return (found["label"].lower(), words) if found and found["label"] and words else None
