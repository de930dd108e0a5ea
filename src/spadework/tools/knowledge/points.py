"""A page as points of Qdrant, and back."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spadework.tools.knowledge.entry import PASSAGE_CHARS, Entry
from spadework.tools.knowledge.page_ranking import document
from spadework.tools.knowledge.sparse import passage_vector
from spadework.tools.library.document import pieces
from spadework.tools.web.urls import host_of
from spadework.values import Page

if TYPE_CHECKING:
    from qdrant_client import models

#: What a point is.
PAGE, PASSAGE = "page", "passage"
#: The vectors of a passage: its words, and what an embedder makes of it where there is one.
WORDS, MEANING = "words", "meaning"


def page_id(key: str) -> str:
    """The id of the point of a page."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def texts_of(entry: Entry) -> list[str]:
    """The passages of an entry with the headings above them, for an embedder."""
    return [
        f"{entry.page.title}\n{piece.heading}\n{entry.text[piece.start : piece.end]}"
        for piece in pieces(document(entry), PASSAGE_CHARS)
    ]


def points_of(
    entry: Entry, meanings: Sequence[list[float]] = ()
) -> tuple[list[models.PointStruct], models.PointStruct]:
    """The points of an entry's passages, and that of its page, to be written in this order.
    `meanings` are the vectors of `texts_of`.
    """
    from qdrant_client import models

    common = {
        "url": entry.key,
        "hosts": _hosts(entry.page.url),
        "hash": entry.page.content_hash,
        "fetched": entry.page.fetched_at.timestamp(),
    }
    passages = []
    for n, piece in enumerate(pieces(document(entry), PASSAGE_CHARS)):
        indices, values = passage_vector(
            entry.page.title, piece.heading, entry.text[piece.start : piece.end]
        )
        place = {"kind": PASSAGE, "start": piece.start, "end": piece.end}
        vector: dict[str, Any] = {WORDS: models.SparseVector(indices=indices, values=values)}
        vector |= {MEANING: meanings[n]} if meanings else {}
        point = models.PointStruct(
            id=page_id(f"{entry.key}#{entry.page.content_hash}#{piece.start}"),
            vector=vector,
            payload=common | place,
        )
        passages.append(point)
    body = {
        "kind": PAGE,
        "record": entry.page.model_dump_json(),
        "text": entry.text.encode(errors="replace").decode(),
        "own": entry.own,
    }
    return passages, models.PointStruct(id=page_id(entry.key), vector={}, payload=common | body)


def entry_of(payload: dict[str, Any]) -> Entry:
    """The entry that a page's point holds."""
    return Entry(Page.model_validate_json(payload["record"]), payload["text"], bool(payload["own"]))


def _hosts(url: str) -> list[str]:
    """The host of a page and all that stand above it: docs.example.org, example.org, org."""
    labels = host_of(url).split(".")
    return [".".join(labels[n:]) for n in range(len(labels))]
