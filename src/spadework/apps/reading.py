"""`read`: one page as clean Markdown, and a clear word when it cannot be had."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import typer

from spadework.apps.saying import say
from spadework.errors import FetchError, NotAllowed, SettingsError, Unreadable
from spadework.settings import Settings
from spadework.tools.extract.charset import decode
from spadework.tools.extract.child import read_apart
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.kinds import Kind, kind_of
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.doors import BROWSER
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import check_url, shown
from spadework.tools.fetch.reader import Reader
from spadework.visible import visible

#: Largest file that is read, in bytes.
MAX_FILE = 100_000_000
#: The level of what was not fetched.
LOCAL = -1


@dataclass(frozen=True)
class Wanted:
    """What is printed: Markdown, all facts `as_json`, or the source as it came (`raw`)."""

    as_json: bool = False
    raw: bool = False


def read_one(page: str, html: Path | None, url: str, wanted: Wanted, settings: Settings) -> None:
    """Print a page. Raises SettingsError for a malformed address or a missing file, FetchError for
    a page that cannot be read.
    """
    if wanted.as_json and wanted.raw:
        raise SettingsError(
            "--json and --raw cannot be had together: --raw prints the source alone."
        )
    if html is not None and page:
        raise SettingsError(
            "Give an address or a file, or --html with --url: both is one page too many."
        )
    if html is not None and not url:
        raise SettingsError("--html needs --url, to make the links of the page whole.")
    if html is None and not page:
        raise SettingsError("Say what to read: an address, a file, or --html FILE with --url.")
    if html is not None:
        source = _saved(html, _address(url))
    elif "://" in page:
        source = None
    else:
        source = _file(Path(page))
    if source is None:
        asyncio.run(_read_address(_address(page), page, wanted, settings))
    else:
        asyncio.run(_read_here(source, str(html or page), wanted, settings))


async def _read_address(url: str, asked: str, wanted: Wanted, settings: Settings) -> None:
    began = time.monotonic()
    try:
        async with Web(settings) as web, Browser(settings) as browser:
            if wanted.raw:
                fetched = await _source(web, browser, url, settings)
                _print_source(fetched, shown(fetched.url))
                return
            fetched, found = await Reader(web, browser).read(url, seconds=settings.page_seconds)
    except FetchError as error:
        raise _about(shown(url), error) from None
    _print(
        fetched,
        found,
        wanted,
        {"url": asked, "final_url": fetched.url, "seconds": round(time.monotonic() - began, 3)},
    )


async def _source(web: Web, browser: Browser, url: str, settings: Settings) -> Fetched:
    """A page as it came, whatever it is: that of a browser, as its scripts have left it."""
    if settings.min_level < BROWSER:
        return await web.fetch(url, seconds=settings.page_seconds)
    await web.ask_leave(url, seconds=settings.page_seconds)
    return await browser.visit(url, level=settings.min_level, seconds=settings.page_seconds)


async def _read_here(source: Fetched, name: str, wanted: Wanted, settings: Settings) -> None:
    """Print a file. It too is read in a process of its own: wherever it comes from, its reader may
    be led astray.
    """
    began = time.monotonic()
    if wanted.raw:
        _print_source(source, name)
        return
    try:
        found = await read_apart(
            source.body, media_type=source.media_type, url=source.url, seconds=settings.page_seconds
        )
        if not found.markdown.strip():
            raise Unreadable("there is no text in it.")
    except FetchError as error:
        raise _about(name, error) from None
    facts = {
        "url": source.url if source.media_type else Path(name).name,
        "final_url": None,
        "status": None,
        "media_type": kind_of(source.body, source.media_type, source.url).media_type
        or guess_type(name)[0]
        or "text/plain",
        "seconds": round(time.monotonic() - began, 3),
    }
    _print(source, found, wanted, facts)


def _address(text: str) -> str:
    """A URL as it is asked for. Raises SettingsError for one that is malformed."""
    try:
        return check_url(text)
    except NotAllowed as error:
        raise SettingsError(
            f"{error} Give an address that begins with http:// or https://, or a file."
        ) from None


def _saved(path: Path, url: str) -> Fetched:
    """A page saved from `url`. Raises Unreadable for what is no HTML."""
    body = _bytes(path)
    kind = kind_of(body, "text/html", url)
    if kind.reader != "html":
        what = (
            f"a file of the type {kind.media_type}" if kind.media_type != "text/html" else "no page"
        )
        raise Unreadable(
            f"{path} holds no HTML: it is {what}.", hint=f"Read it as it is: spadework read {path}"
        )
    return Fetched(url, 0, "text/html", "", body, LOCAL)


def _file(path: Path) -> Fetched:
    return Fetched(path.absolute().as_uri(), 0, "", "", _bytes(path), LOCAL)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_FILE + 1)
    except OSError as error:
        raise SettingsError(f"The file {path} cannot be read: {error.strerror or error}.") from None
    if len(body) > MAX_FILE:
        raise SettingsError(f"The file {path} is larger than {MAX_FILE // 1_000_000} MB.")
    return body


def _about(name: str, error: FetchError) -> FetchError:
    """An error that names what could not be read."""
    said = str(error)
    return (
        error if name in said else type(error)(f"{name} could not be read: {said}", hint=error.hint)
    )


def _print_source(source: Fetched, name: str) -> None:
    """The text of a page as it came. Raises Unreadable for what is none."""
    kind = kind_of(source.body, source.media_type, source.url)
    if _is_binary(kind):
        raise Unreadable(
            f"{name} is no text but {kind.media_type}: --raw prints the source of texts only.",
            hint="Read it without --raw.",
        )
    text = decode(source.body, source.charset)
    # In a file it is the source as it came; a terminal must not carry out what stands in it.
    typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)


def _is_binary(kind: Kind) -> bool:
    return kind.reader in ("", "pdf", "image", "zip", "tar", "packed")


def _print(source: Fetched, found: Extracted, wanted: Wanted, facts: dict[str, Any]) -> None:
    if not wanted.as_json:
        say(found.markdown)
        return
    fetched = {
        "status": source.status,
        "media_type": source.media_type,
        "level": source.level,
        "bytes": len(source.body),
    }
    kept = {"from_cache": source.from_cache, "stale": source.stale}
    typer.echo(json.dumps(fetched | kept | facts | _facts(found), ensure_ascii=False))


def _facts(found: Extracted) -> dict[str, Any]:
    return {
        "title": found.title,
        "author": found.author,
        "published_at": found.published_at.isoformat() if found.published_at else None,
        "language": found.language,
        "kind": found.kind,
        "trafilatura": False,  # all pages are read by our own reader
        "links": [{"url": link.url, "text": link.text} for link in found.links],
        "markdown": found.markdown,
    }
