"""The library: offline documents from the user's folders or installed with Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spadework.errors import NotAllowed, Unreadable
from spadework.tools.dense.passage_vectors import Meaning
from spadework.tools.dense.vector_fill import fill
from spadework.tools.dense.vectors import Passage, Vectors
from spadework.tools.library.document import Document, Skipped
from spadework.tools.library.search import Dense, Searcher, no_passages, passages
from spadework.tools.library.shelf import Plan, Shelved, plan
from spadework.tools.ranking.query_operators import without_operators
from spadework.values import Hit

SCHEME = "library://"
#: All installed documentation is about Python, so the word adds nothing.
_UNDERSTOOD = frozenset(("python",))


class Library:
    """An opened library. Its index never changes while open; reopen it for new files."""

    def __init__(
        self, index: Shelved, known: tuple[int, list[Skipped]], words: str, dense: Dense | None
    ) -> None:
        self._index = index
        self._dense = dense
        self.documents, skipped = known
        self.describe = words
        self.skipped: Sequence[Skipped] = tuple(skipped)

    @classmethod
    async def open(
        cls,
        paths: Sequence[Path],
        *,
        home: Path,
        progress: Callable[[str], None] | None = None,
        meaning: Meaning | None = None,
    ) -> Library:
        """Open the library of `paths`, or of the installed documentation, building its index if
        missing or damaged. With `meaning` it is also searched by vectors, if it has any (`embed`).
        `progress` receives sentences. Raises SettingsError for a missing or unreadable path, or if
        the index cannot be written.
        """
        wanted = await asyncio.to_thread(plan, paths, home)
        return await cls._of(wanted, progress, meaning)

    @classmethod
    async def open_built(cls, paths: Sequence[Path], *, home: Path) -> tuple[str, Library | None]:
        """Return the library's contents in words, and the library as `open` does; None if its index
        must be built or updated first. Raises as `open` does.
        """
        wanted = await asyncio.to_thread(plan, paths, home)
        if not await asyncio.to_thread(wanted.folder.exists):
            return wanted.words, None
        return wanted.words, await cls._of(wanted, None, None)

    @classmethod
    async def _of(
        cls, wanted: Plan, progress: Callable[[str], None] | None, meaning: Meaning | None
    ) -> Library:
        index = await Shelved.open(wanted, frozenset() if wanted.paths else _UNDERSTOOD, progress)
        known = await index.ask(lambda searcher: (searcher.store.count(), searcher.store.skipped()))
        dense = None
        if meaning:
            path = wanted.shelf / "vectors.sqlite"
            vectors = Vectors(path, wanted.family, meaning.embeds.name)
            dense = Dense(vectors, meaning, "run `spadework index`.")
        count = f" ({known[0]} document{'s' * (known[0] != 1)})" if wanted.paths else ""
        return cls(index, known, wanted.words + count, dense)

    async def search(self, text: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` documents for a question, best first, one hit each; `relevance` is
        0..1.
        """
        nearest = await self._dense.nearest(without_operators(text)) if self._dense else no_passages
        found = await self._index.ask(lambda searcher: searcher.search(text, limit, nearest))
        return [
            Hit(
                url=each.document.url,
                title=each.document.title,
                snippet=each.snippet,
                position=position,
                provider="library",
                query=text,
                published_at=each.document.published_at,
                relevance=each.score,
            )
            for position, each in enumerate(found, start=1)
        ]

    async def embed(self, progress: Callable[[int], None] = lambda documents: None) -> int:
        """Embed every passage; `progress` receives the number of documents done.

        Returns how many texts were sent to the model. Raises ModelError; finished vectors remain.
        """
        if self._dense is None:
            return 0
        vectors, store = self._dense.vectors, self._index.searcher.store
        there = set(await asyncio.to_thread(store.numbers))
        known = await asyncio.to_thread(vectors.numbers)
        asked = await fill(
            vectors, self._dense.meaning.embeds, self._passages(sorted(there - known)), progress
        )
        await asyncio.to_thread(vectors.forget, known - there)
        families = await asyncio.to_thread(
            lambda: {path.name.rpartition("-")[0] for path in vectors.path.parent.iterdir()}
        )
        await asyncio.to_thread(vectors.forget_others, families)
        return asked

    def _passages(self, numbers: Sequence[int]) -> Iterator[list[Passage]]:
        for number in numbers:
            yield passages(number, self._index.searcher.store.by_numbers([number])[number][0])

    async def document(self, url: str) -> Document:
        """Return the document at a library URL. Raises NotAllowed for other URLs, Unreadable if
        missing.
        """
        if not url.startswith(SCHEME):
            raise NotAllowed(f"{url[:200]} is not the address of a document in the library.")
        at = url.partition("#")[0]
        found = await self._index.ask(lambda searcher: searcher.store.by_url(at))
        if found is None:
            raise Unreadable(f"There is no document {url[:200]} in {self.describe}.")
        return found

    async def some(self, most: int) -> list[Document]:
        """Return at most `most` documents from all over the library."""

        def spread(searcher: Searcher) -> list[Document]:
            numbers = searcher.store.numbers()
            chosen = numbers[:: max(1, -(-len(numbers) // most))]
            return [document for document, _ in searcher.store.by_numbers(chosen).values()]

        return await self._index.ask(spread)

    def close(self) -> None:
        """Close the index."""
        self._index.searcher.store.close()
