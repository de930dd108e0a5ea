"""Embedding of passages in batches, each stored before the next, so that nothing is paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from spadework.tools.dense.embedder import BATCH, PARALLEL, EndpointEmbedder
from spadework.tools.dense.vectors import Passage, Vectors

#: Minimum passages per batch, and the most whose cost a killed process loses: as many as an
#: endpoint takes at once.
LEAST = BATCH * PARALLEL


async def fill(
    vectors: Vectors,
    embeds: EndpointEmbedder,
    documents: Iterable[Sequence[Passage]],
    tell: Callable[[int], None] = lambda documents: None,
) -> int:
    """Embed all passages of documents, reporting to `tell` how many documents are done.

    Returns how many texts were embedded. Raises ModelError; vectors stored by then remain.
    """
    asked = done = 0
    waiting = _batches(documents)
    while batch := await asyncio.to_thread(next, waiting, None):
        texts = await asyncio.to_thread(vectors.without_vector, [one.text for one in batch])
        made = dict(zip(texts, await embeds.embed(texts), strict=True))
        await asyncio.to_thread(vectors.keep, batch, made)
        asked += len(texts)
        done += len({one.number for one in batch})
        tell(done)
    return asked


def _batches(documents: Iterable[Sequence[Passage]]) -> Iterator[list[Passage]]:
    """Yield batches of whole documents: a document has vectors for all its passages or none."""
    batch: list[Passage] = []
    for passages in documents:
        batch += passages
        if len(batch) >= LEAST:
            yield batch
            batch = []
    if batch:
        yield batch
