"""A page as points of Qdrant, and back; and which points are meant, as its filters."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spadework.tools.knowledge.entry import Entry, Which
from spadework.tools.knowledge.page_ranking import document
from spadework.tools.library.document import pieces
from spadework.tools.library.search import passages
from spadework.tools.web.urls import host_of
from spadework.values import Page

if TYPE_CHECKING:
    from qdrant_client import models
import hashlib
from collections import Counter
from collections.abc import Iterable

from spadework.tools.library.schema import all_terms

#: What a point is.
PAGE, PASSAGE = "page", "passage"
#: The vectors of a passage: its words, and what an embedder makes of it where there is one.
WORDS, MEANING = "words", "meaning"


def page_id(key: str) -> str:
    """The id of the point of a page."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def texts_of(entry: Entry) -> list[str]:
    """The passages of an entry with the headings above them, for an embedder."""
    return [passage.text for passage in passages(0, document(entry))]


def points_of(
    entry: Entry, meanings: Sequence[list[float]] = ()
) -> tuple[list[models.PointStruct], models.PointStruct]:
    """An entry's passages, then its page, in writing order; `meanings` are of `texts_of`."""
    from qdrant_client import models

    page, made = entry.page, []
    common: dict[str, Any] = {"url": entry.key, "hosts": _hosts(page.url)}
    common |= {"hash": page.content_hash, "fetched": page.fetched_at.timestamp()}
    for n, piece in enumerate(pieces(document(entry))):
        body = entry.text[piece.start : piece.end]
        indices, values = passage_vector(page.title, piece.heading, body)
        place = {"kind": PASSAGE, "start": piece.start, "end": piece.end}
        vector: dict[str, Any] = {WORDS: models.SparseVector(indices=indices, values=values)}
        vector |= {MEANING: meanings[n]} if meanings else {}
        number = page_id(f"{entry.key}#{page.content_hash}#{piece.start}")
        made.append(models.PointStruct(id=number, vector=vector, payload=common | place))
    text = entry.text.encode(errors="replace").decode()
    common |= {"kind": PAGE, "record": page.model_dump_json(), "text": text, "own": entry.own}
    return made, models.PointStruct(id=page_id(entry.key), vector={}, payload=common)


def entry_of(payload: dict[str, Any]) -> Entry:
    """The entry that a page's point holds."""
    return Entry(Page.model_validate_json(payload["record"]), payload["text"], bool(payload["own"]))


def _hosts(url: str) -> list[str]:
    """The host of a page and all that stand above it: docs.example.org, example.org, org."""
    labels = host_of(url).split(".")
    return [".".join(labels[n:]) for n in range(len(labels))]


def filter_of(which: Which, kind: str = "", *, since: datetime | None = None) -> models.Filter:
    """The points of some pages, of one `kind` if named, fetched `since` then."""
    from qdrant_client import models

    must: list[models.Condition] = []
    if kind:
        must.append(models.FieldCondition(key="kind", match=models.MatchValue(value=kind)))
    if which.named:
        url = models.FieldCondition(key="url", match=models.MatchAny(any=which.urls))
        host = models.FieldCondition(key="hosts", match=models.MatchAny(any=which.hosts))
        must.append(models.Filter(should=[url, host]))
    if since or which.before:
        window = models.Range(
            gte=since.timestamp() if since else None,
            lt=which.before.timestamp() if which.before else None,
        )
        must.append(models.FieldCondition(key="fetched", range=window))
    return models.Filter(must=must)


def passages_of_other_states(entry: Entry) -> models.Filter:
    """The passages of a page as it was before."""
    from qdrant_client import models

    same = models.FieldCondition(key="url", match=models.MatchValue(value=entry.key))
    passage = models.FieldCondition(key="kind", match=models.MatchValue(value=PASSAGE))
    current = models.FieldCondition(
        key="hash", match=models.MatchValue(value=entry.page.content_hash)
    )
    return models.Filter(must=[same, passage], must_not=[current])


#: BM25's constants, and the average words of a passage: no vector knows the others.
K1, B = 1.2, 0.75
AVERAGE_WORDS = 200


def passage_vector(title: str, heading: str, body: str) -> tuple[list[int], list[float]]:
    """A passage's indices and values: the part of BM25 that needs no other passage."""
    words = all_terms(body)
    counts = Counter([*words, *all_terms(heading), *all_terms(title)])
    norm = K1 * (1 - B + B * len(words) / AVERAGE_WORDS)
    weights = {word: count * (K1 + 1) / (count + norm) for word, count in counts.items()}
    return _pack_weights(weights)


def query_vector(words: Iterable[tuple[str, float]]) -> tuple[list[int], list[float]]:
    """Indices and values of a query: each stem with its weight."""
    return _pack_weights(dict(words))


def _pack_weights(weights: dict[str, float]) -> tuple[list[int], list[float]]:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
        index = int.from_bytes(digest)
        hashed[index] = hashed.get(index, 0.0) + weight
    return sorted(hashed), [round(hashed[index], 4) for index in sorted(hashed)]
