"""Embed a run's questions and an index's passages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from spadework.errors import ModelError
from spadework.settings import Settings
from spadework.tools.dense.embedder import BATCH, PARALLEL, EndpointEmbedder, embedder
from spadework.tools.dense.vectors import Passage, Vectors
from spadework.values import Problem

QUESTION_SECONDS = 2.0
#: Seconds to wait for further questions to share a request.
TOGETHER_SECONDS = 0.01


class Meaning:
    """A run's embedding model, used until its first fault."""

    def __init__(self, embeds: EndpointEmbedder, seconds: float = QUESTION_SECONDS) -> None:
        self.embeds = embeds
        self.broken = False
        self._seconds = seconds
        self._problems: dict[str, Problem] = {}
        self._asked: dict[str, asyncio.Task[dict[str, list[float]]]] = {}
        self._next: list[str] = []
        self._task: asyncio.Task[dict[str, list[float]]]

    @property
    def problems(self) -> list[Problem]:
        """The problems of this run, each reason once."""
        return list(self._problems.values())

    async def of(self, question: str) -> list[float] | None:
        """Return a question's vector, or None after a fault. Repeated questions cost nothing."""
        if self.broken:
            return None
        if question not in self._asked:
            if not self._next:
                self._task = asyncio.create_task(self._ask(self._next))
            self._next.append(question)
            self._asked[question] = self._task
        return (await asyncio.shield(self._asked[question])).get(question)

    def fail(
        self,
        error: ModelError | TimeoutError,
        effect: str = "The remaining searches were by words only.",
    ) -> None:
        """Record a fault and stop using the model in this run."""
        self.broken = True
        said = f"{error} {getattr(error, 'hint', '')}".strip()
        self.tell(said or f"No vectors were returned within {self._seconds:g} s.", effect)

    def tell(self, reason: str, effect: str) -> None:
        """Record a problem unless its reason is already recorded."""
        subject = self.embeds.name
        problem = Problem(stage="embeddings", subject=subject, reason=reason, effect=effect)
        self._problems.setdefault(reason, problem)

    async def close(self) -> None:
        """Cancel pending requests and close the connections."""
        try:
            for task in self._asked.values():
                task.cancel()
            await asyncio.gather(*self._asked.values(), return_exceptions=True)
        finally:
            await self.embeds.close()

    async def _ask(self, questions: list[str]) -> dict[str, list[float]]:
        await asyncio.sleep(TOGETHER_SECONDS)
        self._next = []
        try:
            async with asyncio.timeout(self._seconds):
                return dict(zip(questions, await self.embeds.embed(questions), strict=True))
        except (ModelError, TimeoutError) as error:
            self.fail(error)
        return {}


def meaning_of(settings: Settings) -> Meaning | None:
    """Return the embedding model that the settings name, or None. Raises SettingsError."""
    embeds = embedder(settings)
    return Meaning(embeds) if embeds else None


#: Minimum passages per batch: as many as an endpoint takes at once.
LEAST = BATCH * PARALLEL


async def fill(
    vectors: Vectors,
    embeds: EndpointEmbedder,
    documents: Iterable[Sequence[Passage]],
    tell: Callable[[int], None] = lambda documents: None,
) -> int:
    """Embed and store the passages of documents, and return the number of texts embedded.
    `tell` receives the number of documents done. Vectors stored before a ModelError are kept.
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
    """Yield batches of whole documents, so that no document is stored in part."""
    batch: list[Passage] = []
    for passages in documents:
        batch += passages
        if len(batch) >= LEAST:
            yield batch
            batch = []
    if batch:
        yield batch
