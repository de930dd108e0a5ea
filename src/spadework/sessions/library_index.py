"""Indexing a library ahead of the first question, and example questions that it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack

from spadework import clock
from spadework.agents.example_questions import questions
from spadework.errors import SpadeworkError
from spadework.settings import Settings
from spadework.tools.dense.passage_vectors import meaning_of
from spadework.tools.library.document import Document
from spadework.tools.library.library import Library
from spadework.tools.stores.page_store import content_hash
from spadework.values import Page, Value


class Indexed(Value):
    """The contents of an index in words, and the files left out, with reasons."""

    holds: str
    skipped: tuple[str, ...] = ()


class Embedded(Value):
    """The embedding model, the number of new texts, and their tokens."""

    by: str
    texts: int
    tokens: int


async def index(
    settings: Settings, tell: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Indexed | Embedded, None]:
    """Build or update the index of the settings' library, then its vectors if a model is set,
    yielding what was done. `tell` receives progress messages.
    """
    async with AsyncExitStack() as opened:
        if meaning := meaning_of(settings):
            opened.push_async_callback(meaning.close)
        library = await Library.open(
            settings.library, home=settings.common, progress=tell, meaning=meaning
        )
        opened.callback(library.close)
        yield Indexed(holds=library.describe, skipped=tuple(map(str, library.skipped)))
        if meaning:
            name = meaning.embeds.name
            asked = await library.embed(
                lambda done: tell(f"Embedding with {name}: {done} documents done.")
            )
            yield Embedded(by=name, texts=asked, tokens=meaning.embeds.tokens)


#: Maximum documents examined.
MOST_DOCUMENTS = 40
#: Someone waits for the page.
SECONDS = 1.5


async def from_library(settings: Settings, most: int) -> tuple[str, ...]:
    """Return at most `most` questions that the library answers; () without a readable index."""
    try:
        _, library = await Library.open_built(settings.library, home=settings.common)
        if library is None:
            return ()
        try:
            documents = await library.some(MOST_DOCUMENTS)
        finally:
            library.close()
    except SpadeworkError:
        return ()
    found = [(_page(document), document.markdown) for document in documents]
    return tuple(await asyncio.to_thread(questions, found, most, seconds=SECONDS))


def _page(document: Document) -> Page:
    return Page(
        url=document.url,
        title=document.title,
        content_hash=content_hash(document.markdown),
        fetched_at=clock.today(),
        chars=len(document.markdown),
    )
