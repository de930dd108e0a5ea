"""Embeddings of questions during a run. The first fault is reported, and search continues by words
alone.
"""

from __future__ import annotations

import asyncio

from spadework.errors import ModelError
from spadework.settings import Settings
from spadework.tools.dense.embedder import EndpointEmbedder, embedder
from spadework.values import Problem

#: Maximum seconds to wait for a question's vector.
QUESTION_SECONDS = 2.0
#: Questions within this time share a request.
TOGETHER_SECONDS = 0.01


class Meaning:
    """A run's embedding model. `problems` lists what was lost."""

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
        """The losses, each once."""
        return list(self._problems.values())

    async def of(self, question: str) -> list[float] | None:
        """Return a question's vector, None if unavailable. The same question is paid for once."""
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
        effect: str = "What had yet to be searched was searched by words alone.",
    ) -> None:
        """Stop using the model in this run."""
        self.broken = True
        said = f"{error} {getattr(error, 'hint', '')}".strip()
        self.tell(said or f"No vector came within {self._seconds:g} s.", effect)

    def tell(self, reason: str, effect: str) -> None:
        """Record what was lost."""
        subject = self.embeds.name
        problem = Problem(stage="embeddings", subject=subject, reason=reason, effect=effect)
        self._problems.setdefault(reason, problem)

    async def close(self) -> None:
        """Close the connections."""
        try:
            for task in self._asked.values():
                task.cancel()
            await asyncio.gather(*self._asked.values(), return_exceptions=True)
        finally:  # also when cancelled
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
    """Return the settings' embedding model, or None. Raises SettingsError if its key is missing."""
    embeds = embedder(settings)
    return Meaning(embeds) if embeds else None
