"""Index a library in advance, and suggest questions that it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from spadework.agents.extractive.judge import questions
from spadework.deadline import today
from spadework.errors import SpadeworkError
from spadework.sessions.storage.files import read_page
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.tools.ranking.embedder import meaning_of
from spadework.tools.text.page_text import content_hash
from spadework.values import Page, Result, Value


class Indexed(Value):
    """A description of the index, and the skipped files, each with the reason."""

    holds: str
    skipped: tuple[str, ...] = ()


class Embedded(Value):
    """The embedding model, the number of texts embedded, and the tokens used."""

    by: str
    texts: int
    tokens: int


async def index(
    settings: Settings, tell: Callable[[str], None] = lambda text: None
) -> AsyncGenerator[Indexed | Embedded, None]:
    """Index the library, and compute embeddings if an embedding model is set. Yields a summary of
    each step. `tell` receives progress messages.
    """
    async with AsyncExitStack() as opened:
        if meaning := meaning_of(settings):
            opened.push_async_callback(meaning.close)
        library = await Library.open(
            settings.library, home=settings.common, progress=tell, meaning=meaning
        )
        opened.push_async_callback(library.close)
        yield Indexed(holds=library.describe, skipped=tuple(map(str, library.skipped)))
        if meaning:
            name = meaning.embeds.name
            asked = await library.embed(
                lambda done: tell(f"Embedding with {name}: {done} documents done.")
            )
            yield Embedded(by=name, texts=asked, tokens=meaning.embeds.tokens)


MOST_DOCUMENTS = 40
#: Maximum seconds to find suggestions while a user waits.
SECONDS = 1.5
MOST_RELATED = 4


async def from_library(settings: Settings, most: int) -> tuple[str, ...]:
    """Return at most `most` questions that the library answers, or () if it has no index yet."""
    try:
        _, library = await Library.open_built(settings.library, home=settings.common)
        if library is None:
            return ()
        try:
            documents = await library.some(MOST_DOCUMENTS)
        finally:
            await library.close()
    except SpadeworkError:
        return ()
    found = [(_page(one.url, one.title, one.markdown), one.markdown) for one in documents]
    return tuple(await asyncio.to_thread(questions, found, most, seconds=SECONDS))


def related(folder: Path, result: Result) -> list[str]:
    """Return related questions not asked yet: open topics, then questions from page headings."""
    asked = {name.casefold() for name in (result.question, *(t.name for t in result.topics))}
    pages = [
        (_page(source.url, source.title, text), text)
        for source in sorted(result.sources, key=lambda one: bool(one.unused))[:MOST_DOCUMENTS]
        if (text := read_page(folder, source.content_hash))
    ]
    found = [
        q for q in questions(pages, MOST_RELATED, seconds=SECONDS) if q.casefold() not in asked
    ]
    left = [topic.name for topic in result.topics if topic.state == "open"]
    return [name for name in (*left, *found) if name != result.question][:MOST_RELATED]


def _page(url: str, title: str, markdown: str) -> Page:
    return Page(
        url=url,
        title=title,
        content_hash=content_hash(markdown),
        fetched_at=today(),
        chars=len(markdown),
    )
