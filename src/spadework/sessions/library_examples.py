"""Questions to begin with that a library answers, for the doors that offer some."""

from __future__ import annotations

import asyncio

from spadework import clock
from spadework.agents.example_questions import questions
from spadework.errors import SpadeworkError
from spadework.settings import Settings
from spadework.tools.library.document import Document
from spadework.tools.library.library import Library
from spadework.tools.stores.page_store import content_hash
from spadework.values import Page

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
