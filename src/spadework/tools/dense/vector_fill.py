"""Giving passages vectors batch by batch, each kept before the next: nothing is paid twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from spadework.tools.dense.embedder import BATCH, PARALLEL, EndpointEmbedder
from spadework.tools.dense.vectors import Passage, Vectors

#: Passages of one batch at least: what a killed process has paid for in vain at most. It is as much
#: as an endpoint is asked for at once.
LEAST = BATCH * PARALLEL


async def fill(
    vectors: Vectors,
    embeds: EndpointEmbedder,
    documents: Iterable[Sequence[Passage]],
    tell: Callable[[int], None] = lambda documents: None,
) -> int:
    """Give all passages of documents their vectors, and `tell` how many documents are done.

    Returns how many texts had to be embedded. Raises ModelError; what was kept by then stays.
    """
    asked = done = 0
    waiting = _batches(documents)
    while batch := await asyncio.to_thread(next, waiting, None):
        texts = await asyncio.to_thread(vectors.missing, [one.text for one in batch])
        made = dict(zip(texts, await embeds.embed(texts), strict=True))
        await asyncio.to_thread(vectors.keep, batch, made)
        asked += len(texts)
        done += len({one.number for one in batch})
        tell(done)
    return asked


def _batches(documents: Iterable[Sequence[Passage]]) -> Iterator[list[Passage]]:
    """Whole documents together: one of whose passages some have vectors has them all."""
    batch: list[Passage] = []
    for passages in documents:
        batch += passages
        if len(batch) >= LEAST:
            yield batch
            batch = []
    if batch:
        yield batch
