"""A library made ready ahead of the first question, and questions that it answers."""

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
    """What an index holds, in words, and the files that were left out, each with the reason."""

    holds: str
    skipped: tuple[str, ...] = ()


class Embedded(Value):
    """The model by which passages have vectors, the new texts it was asked, and their tokens."""

    by: str
    texts: int
    tokens: int


async def index(
    settings: Settings, tell: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Indexed | Embedded, None]:
    """Build or bring up to date the index of the library of the settings, then the vectors of its
    passages where a model is named; what was done, as it is done. `tell` is told how far it is.
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


#: Documents that are looked at.
MOST_DOCUMENTS = 40
#: Somebody waits for the page.
SECONDS = 1.5


async def from_library(settings: Settings, most: int) -> tuple[str, ...]:
    """At most so many questions that the library answers; () without an index that can be read."""
    try:
        _, library = await Library.made(settings.library, home=settings.common)
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
