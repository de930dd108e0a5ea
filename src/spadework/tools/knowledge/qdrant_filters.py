"""Which points are meant, as Qdrant's filters."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from spadework.tools.knowledge.entry import Entry, Which
from spadework.tools.knowledge.points import PASSAGE

if TYPE_CHECKING:
    from qdrant_client import models


def filter_of(which: Which, kind: str = "", *, since: datetime | None = None) -> models.Filter:
    """The points of some pages, of one kind where it is named, and only of those fetched since
    then.
    """
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
