"""Index a library in advance, and suggest questions that it can answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from spadework import clock
from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.judge import judge_passages
from spadework.errors import SpadeworkError
from spadework.sessions.storage.files import read_page
from spadework.settings import Settings
from spadework.tools.dense.passage_vectors import meaning_of
from spadework.tools.library.library import Library
from spadework.tools.text.language import language_of
from spadework.tools.text.page_text import content_hash
from spadework.tools.text.passages import cut, headings
from spadework.values import Page, Result, Value

#: Maximum characters examined of a document, and of each passage.
MOST_CHARS, PASSAGE_CHARS = 20_000, 1_500
MOST_HEADINGS = 6

_NAME = re.compile(r"[^\W\d_][\w.+#-]*(?: [\w.+#-]+){0,3}")
_NUMBER = re.compile(r"^(?:(?:chapter|appendix|part) )?(?:\d+|[A-Z])(?:\.\d+)*\.\s+", re.IGNORECASE)
_HOW = re.compile(r"how to (\w.+)", re.IGNORECASE)
#: Code blocks or numbered steps, which a how-to answer needs.
_STEPS = re.compile(r"^(?:```|\d+\. )", re.MULTILINE)


class Indexed(Value):
    """A description of the index, and the skipped files with reasons."""

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
    """Build or update the library's index and, if an embedding model is set, its vectors. Yields
    what was done. `tell` receives progress messages.
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
#: Seconds for making suggestions, since a user is waiting.
SECONDS = 1.5
MOST_RELATED = 4


async def from_library(settings: Settings, most: int) -> tuple[str, ...]:
    """Return at most `most` questions that the library can answer, or none without an index."""
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
    """Return related questions: open topics, then page headings, cited pages first. Questions
    already asked are omitted.
    """
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
        fetched_at=clock.today(),
        chars=len(markdown),
    )


def questions(documents: Sequence[tuple[Page, str]], most: int, *, seconds: float) -> list[str]:
    """Return at most `most` questions that the documents answer, taking them from each in turn.
    Stop after `seconds`.
    """
    until, made = time.monotonic() + seconds, dict[str, None]()
    left = [_questions_of(page, text[:MOST_CHARS]) for page, text in documents]
    while left and len(made) < most:
        for each in [*left]:
            question = next(each, "")
            if question:
                made[question] = None
            else:
                left.remove(each)
            if len(made) == most or time.monotonic() > until:
                return list(made)
    return list(made)


def _questions_of(page: Page, text: str) -> Iterator[str]:
    if language_of(text) != "en":
        return
    shown = [PassageView(page, a, text[a:b], score=1.0) for a, b in cut(text, PASSAGE_CHARS)]
    for question in dict.fromkeys(_try_questions(page.title, text)):
        if judge_passages(question, shown).proven:
            yield question


def _try_questions(title: str, text: str) -> Iterator[str]:
    title = _bare(title)
    found = [_bare(heading) for _, _, heading in headings(text)][:MOST_HEADINGS]
    tried = [(name, r"\b[^.\n]{0,40}") for name in (title, *found[:1])]
    tried += [(name, "") for name in _beginnings(title)]
    for name, between in tried:
        # The document must define the name.
        if _NAME.fullmatch(name) and re.search(
            rf"^(?:The |An? )?{re.escape(name)}{between} is (?:an?|the) ", text, re.M | re.I
        ):
            yield f"What is {re.sub('^The ', 'the ', name)}?"
    for heading in found:
        if (how := _HOW.fullmatch(heading.rstrip("?"))) and _STEPS.search(text):
            yield f"How do I {how[1]}?"
        elif heading.endswith("?"):
            yield heading


def _beginnings(title: str) -> Iterator[str]:
    """Yield the possible subjects of a title, longest first: *Heron* for *Heron architecture*."""
    words = title.removeprefix("The ").split()
    yield from (" ".join(words[:n]) for n in range(len(words) - 1, 0, -1))


def _bare(heading: str) -> str:
    return _NUMBER.sub("", " ".join(heading.split()))
