"""Read local files, open temporary contexts for reading pages, and choose excerpts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory

from spadework.agents.extractive import writer
from spadework.budget import Budget
from spadework.errors import FetchError, NotAllowed, SettingsError, Unreadable
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.parts import PagesAlone
from spadework.settings import Settings
from spadework.tools.export.compressed import PIECE_CHARS, around, largest
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Link
from spadework.tools.extract.process import read_apart
from spadework.tools.fetch.guard import check_url
from spadework.tools.fetch.page_pool import PAGE_SECONDS
from spadework.tools.ranking.relevance import Bm25
from spadework.tools.text.language import spoken
from spadework.tools.text.passages import cut
from spadework.values import Report, Result, Value

#: The fetch level recorded for a local file.
LOCAL = -1
MAX_FILE = 100_000_000


class Linked(Value):
    """A link's absolute address and text."""

    url: str
    text: str


class ReadPage(Value):
    """A page or file as Markdown. `url`: as requested; `final_url`: after redirects; `status`:
    None for a file; `level`: see `spadework.values.Page`.
    """

    url: str
    final_url: str | None = None
    status: int | None = None
    media_type: str
    level: int = LOCAL
    bytes: int
    from_cache: bool = False
    stale: bool = False
    seconds: float
    title: str = ""
    author: str = ""
    published_at: datetime | None = None
    language: str = ""
    kind: str = ""
    links: tuple[Linked, ...] = ()
    markdown: str


async def read_file(path: Path, settings: Settings) -> ReadPage:
    """Read a file, parsing its untrusted content in a separate process. Raises SettingsError if the
    file is too large or cannot be opened, and FetchError if its content cannot be read.
    """
    began = time.monotonic()
    body, url = await asyncio.to_thread(_file, path)
    try:
        found = await read_apart(body, media_type="", url=url, seconds=PAGE_SECONDS)
        if not found.markdown.strip():
            raise Unreadable("it contains no text.")
    except FetchError as error:
        raise about(str(path), error) from None
    return ReadPage(
        url=path.name,
        media_type=kind_of(body, "", url).media_type or guess_type(path.name)[0] or "text/plain",
        bytes=len(body),
        seconds=round(time.monotonic() - began, 3),
        title=found.title,
        author=found.author,
        published_at=found.published_at,
        language=found.language,
        kind=found.kind,
        links=tell_links(found.links),
        markdown=found.markdown,
    )


def checked_address(text: str) -> str:
    """Return a URL in the form used for requests. Raises SettingsError if it is malformed."""
    try:
        return check_url(text)
    except NotAllowed as error:
        raise SettingsError(
            f"{error} Enter a file, or an address that begins with http:// or https://."
        ) from None


def about(name: str, error: FetchError) -> FetchError:
    """Return the error with the page's or file's name in front, unless the message contains it."""
    if name in (said := str(error)):
        return error
    return type(error)(f"{name} could not be read: {said}", hint=error.hint)


def tell_links(links: Sequence[Link]) -> tuple[Linked, ...]:
    """Convert extracted links to `Linked` values."""
    return tuple(Linked(url=link.url, text=link.text) for link in links)


def _file(path: Path) -> tuple[bytes, str]:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_FILE + 1)
    except OSError as error:
        raise SettingsError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    if len(body) > MAX_FILE:
        raise SettingsError(f"The file {path} exceeds the limit of {MAX_FILE // 1_000_000} MB.")
    return body, path.absolute().as_uri()


@asynccontextmanager
async def temporary_context(
    settings: Settings, budget: Budget, tell: Callable[[str], None], alone: PagesAlone | None = None
) -> AsyncGenerator[SessionContext, None]:
    """Open a context in a temporary folder. With `alone`, the context only gathers pages. `tell`
    receives messages about slow steps.
    """
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="spadework-")
    try:
        context = await SessionContext.open(
            Path(folder.name) / new_session_id(),
            settings,
            budget,
            progress=tell,
            providers=alone or (),
        )
        try:
            yield context
        finally:
            await context.close()
    finally:
        await asyncio.to_thread(folder.cleanup)


BEST_PIECES = 5
#: Excerpts are taken from at most this many characters of a text.
MOST_CHARS = 60_000


def excerpt(text: str, query: str, fits: Callable[[str], bool]) -> str:
    """Return the longest excerpt satisfying `fits`, preferably around the query's best matches."""
    spans = _best(text[:MOST_CHARS], query)
    size = largest(min(len(text), MOST_CHARS), lambda chars: fits(_show_spans(text, spans, chars)))
    return _show_spans(text, spans, size)


def of_quotes(result: Result) -> Result:
    """Return a copy of the result with a report composed of quotes."""
    sections = tuple(
        writer.section(topic.name, topic.evidence) for topic in result.topics if topic.evidence
    )
    document = Report(title=result.question, sections=sections)
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    return result.model_copy(
        update={"document": document, "report": to_markdown(document, ledger, result.sources)}
    )


def _show_spans(text: str, spans: Sequence[tuple[int, int]], chars: int) -> str:
    if len(text) <= chars:
        return text
    return around(text[:MOST_CHARS], spans, chars) or text[:chars]


def _best(text: str, query: str) -> list[tuple[int, int]]:
    pieces = cut(text, PIECE_CHARS)
    languages = [spoken(text)] * len(pieces)
    scores = Bm25([text[start:end] for start, end in pieces], languages).scores(query)
    ranked = sorted(range(len(pieces)), key=lambda n: -scores[n])
    return [pieces[n] for n in ranked[:BEST_PIECES] if scores[n] > 0]
