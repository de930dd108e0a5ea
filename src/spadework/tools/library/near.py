"""The dense half of a search: passages near to a question by meaning, and both rankings as one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from spadework.errors import ModelError
from spadework.tools.dense.meaning import Meaning
from spadework.tools.dense.vectors import MOST_PLACES, Near, Passage, Vectors
from spadework.tools.library.document import Document, pieces
from spadework.tools.library.ranking import Match, Ranked
from spadework.tools.ranking.fusion import rank_scores

#: How many passages are proposed, and how much their order weighs in the fusion; that of the words
#: weighs 1.
PROPOSED, WEIGHT = 120, 0.7

#: The nearest passages to a question, given what its words have found and the documents it is kept
#: to, None for all.
Nearest = Callable[[Sequence[Match], Collection[int] | None], list[Near]]


def nothing(matches: Sequence[Match], within: Collection[int] | None) -> list[Near]:
    """The nearest passages where there are no vectors."""
    return []


@dataclass(frozen=True)
class Dense:
    """An index's vectors, and the model that embeds questions. `mend`: how it gets its vectors."""

    vectors: Vectors
    meaning: Meaning
    mend: str = ""

    async def nearest(self, question: str) -> Nearest:
        """How to find the nearest passages. A fault of vectors or model is told, loses no more."""
        try:
            count = await asyncio.to_thread(self.vectors.count, MOST_PLACES + 1)
        except ModelError as error:
            self.meaning.fail(error)
            return nothing
        if count > MOST_PLACES:
            self.meaning.tell(
                f"There are more than {MOST_PLACES:,} passages.",
                "Only what words had found was ranked by it.",
            )
        elif not count and self.mend:
            self.meaning.tell(
                f"The documents have no vectors of this model: {self.mend}",
                "They were searched by words alone.",
            )
        vector = await self.meaning.of(question) if count else None
        return partial(self._nearest, vector, count > MOST_PLACES) if vector else nothing

    def _nearest(
        self,
        vector: list[float],
        few: bool,
        matches: Sequence[Match],
        within: Collection[int] | None,
    ) -> list[Near]:
        among = [(match.number, match.start) for match in matches] if few else None
        try:
            return self.vectors.nearest(vector, PROPOSED, among, within)
        except ModelError as error:
            self.meaning.fail(error)
            return []


def passages(number: int, document: Document) -> list[Passage]:
    """The passages of a document for an embedder, each with the headings above it."""
    found = []
    for piece in pieces(document):
        body = document.markdown[piece.start : piece.end]
        text = f"{document.title}\n{piece.heading}\n{body}"
        found.append(Passage(number, piece.start, piece.end, text, body))
    return found


def with_near(
    matches: Sequence[Match], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Match]:
    """What words have found, and of every other document its nearest passage, with score 0."""
    known = {match.number for match in matches}
    nearest: dict[int, Near] = {}
    for one in near:
        if one.number not in known and _stands(one, documents):
            nearest.setdefault(one.number, one)
    return [*matches, *(Match(one.number, one.start, one.end, 0.0) for one in nearest.values())]


def blend_rankings(
    ranked: list[Ranked], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Ranked]:
    """Documents in the order of both rankings fused; in their own where nothing is near."""
    if not near:
        return ranked
    by_words = [each.best.number for each in ranked if each.best.score]
    by_meaning = dict.fromkeys(one.number for one in near if _stands(one, documents))
    scores = rank_scores([by_words, by_meaning], weights=[1.0, WEIGHT])
    # What is found by its subject alone has no score, and stands in neither.
    return sorted(ranked, key=lambda each: -scores.get(each.best.number, 0.0))


def _stands(one: Near, documents: Mapping[int, Document]) -> bool:
    return one.number in documents and one.stands_in(documents[one.number].markdown)
