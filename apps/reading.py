"""`read`: one page as clean Markdown, and a clear word when it cannot be had."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import typer

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.guard import is_http_url
from spadework.tools.fetch.reader import Reader


def read_one(page: str, html: Path | None, url: str, as_json: bool, settings: Settings) -> None:
    """Print a page. Raises SettingsError for a malformed address or a missing file, FetchError for a page that cannot be read."""
    if html is not None:
        if not url:
            raise SettingsError("--html needs --url, to make the links of the page whole.")
        found, facts = extract(_bytes(html), url), {"url": url, "level": -1}
    elif is_http_url(page):
        found, facts = asyncio.run(_fetched(page, settings))
    elif "://" in page or not page:
        raise SettingsError(f"{page!r} is no address that can be read: give one that begins with http:// or https://, or a file.")
    else:
        found = read_document(_bytes(Path(page)), media_type="", url=Path(page).absolute().as_uri())
        facts = {"url": Path(page).name, "level": -1}
    typer.echo(json.dumps(facts | _facts(found), ensure_ascii=False) if as_json else found.markdown)


async def _fetched(url: str, settings: Settings) -> tuple[Extracted, dict[str, Any]]:
    async with Web(settings) as web:
        fetched, extracted = await Reader(web).read(url, seconds=settings.page_seconds)
    return extracted, {"url": fetched.url, "status": fetched.status, "media_type": fetched.media_type, "level": fetched.level}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"The file {path} cannot be read: {error.strerror or error}.") from None


def _facts(found: Extracted) -> dict[str, Any]:
    return {
        "title": found.title,
        "author": found.author,
        "published_at": found.published_at.isoformat() if found.published_at else None,
        "language": found.language,
        "kind": found.kind,
        "links": [{"url": link.url, "text": link.text} for link in found.links],
        "markdown": found.markdown,
    }
