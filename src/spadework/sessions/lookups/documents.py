"""Files as text or unchanged, and a temporary context."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory

from spadework.budget import Budget
from spadework.errors import FetchError, NotAllowed, SettingsError, Unreadable
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.parts import PagesAlone
from spadework.settings import Settings
from spadework.tools.extract.charset import decode
from spadework.tools.extract.child import read_apart
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Link
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import check_url
from spadework.values import Value

#: The level of what was not fetched.
LOCAL = -1
MAX_FILE = 100_000_000


class Linked(Value):
    """A link of a page, absolute, with its text."""

    url: str
    text: str


class ReadPage(Value):
    """A page or file as Markdown. `url` is as requested, `final_url` as found, and `status` the
    server's, None for a file. `level` is how it was fetched (see `spadework.values.Page`),
    `seconds` how long that took; `kind` is the kind of page.
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


async def read_file(path: Path, settings: Settings, saved_from: str = "") -> ReadPage:
    """Read a file, or a web page `saved_from` a URL, in a process of its own, since its content is
    untrusted. Raises SettingsError if it cannot be opened, Unreadable.
    """
    began = time.monotonic()
    held = await asyncio.to_thread(_file, path, saved_from)
    try:
        found = await read_apart(
            held.body, media_type=held.media_type, url=held.url, seconds=settings.page_seconds
        )
        if not found.markdown.strip():
            raise Unreadable("there is no text in it.")
    except FetchError as error:
        raise about(str(path), error) from None
    kind = kind_of(held.body, held.media_type, held.url)
    return ReadPage(
        url=saved_from or path.name,
        media_type=kind.media_type or guess_type(path.name)[0] or "text/plain",
        bytes=len(held.body),
        seconds=round(time.monotonic() - began, 3),
        title=found.title,
        author=found.author,
        published_at=found.published_at,
        language=found.language,
        kind=found.kind,
        links=tell_links(found.links),
        markdown=found.markdown,
    )


async def source_of_file(path: Path, saved_from: str = "") -> str:
    """Return a file's text unchanged. Raises SettingsError, and Unreadable if it is not text."""
    return text_of(await asyncio.to_thread(_file, path, saved_from), str(path))


def checked_address(text: str) -> str:
    """Return a URL as requested. Raises SettingsError if it is malformed."""
    try:
        return check_url(text)
    except NotAllowed as error:
        raise SettingsError(
            f"{error} Give an address that begins with http:// or https://, or a file."
        ) from None


def about(name: str, error: FetchError) -> FetchError:
    """Return an error that names what could not be read."""
    if name in (said := str(error)):
        return error
    return type(error)(f"{name} could not be read: {said}", hint=error.hint)


def tell_links(links: Sequence[Link]) -> tuple[Linked, ...]:
    """Return links as values."""
    return tuple(Linked(url=link.url, text=link.text) for link in links)


def _file(path: Path, saved_from: str) -> Fetched:
    """Return a file's content. Raises Unreadable for a saved page that is not HTML."""
    body = _bytes(path)
    if not saved_from:
        return Fetched(path.absolute().as_uri(), 0, "", "", body, LOCAL)
    kind = kind_of(body, "text/html", saved_from)
    if kind.reader != "html":
        told = f"a file of the type {kind.media_type}"
        what = told if kind.media_type != "text/html" else "no page"
        raise Unreadable(
            f"{path} holds no HTML: it is {what}.", hint=f"Read it as it is: spadework read {path}"
        )
    return Fetched(saved_from, 0, "text/html", "", body, LOCAL)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_FILE + 1)
    except OSError as error:
        raise SettingsError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    if len(body) > MAX_FILE:
        raise SettingsError(f"The file {path} is larger than {MAX_FILE // 1_000_000} MB.")
    return body


def text_of(held: Fetched, name: str) -> str:
    """Return the text of fetched content. Raises Unreadable if it is not text."""
    kind = kind_of(held.body, held.media_type, held.url)
    if kind.reader in ("", "pdf", "image", "zip", "tar", "packed"):
        raise Unreadable(
            f"{name} is no text but {kind.media_type}: --raw prints the source of texts only.",
            hint="Read it without --raw.",
        )
    return decode(held.body, held.charset)


@asynccontextmanager
async def temporary_context(
    settings: Settings, budget: Budget, tell: Callable[[str], None], alone: PagesAlone | None = None
) -> AsyncGenerator[SessionContext, None]:
    """Open a temporary context, `alone` for pages or for a whole run. `tell` receives messages
    about slow steps.
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
