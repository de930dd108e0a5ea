"""`read`: one page as clean Markdown, or a clear reason why not."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import typer

from spadework.apps.messages import say, say_json
from spadework.errors import SettingsError
from spadework.sessions.lookups.documents import (
    ReadPage,
    checked_address,
    read_file,
    source_of_file,
)
from spadework.settings import Settings
from spadework.visible import visible


def read_one(
    page: str, html: Path | None, url: str, settings: Settings, *, as_json: bool, raw: bool
) -> None:
    """Print a page as Markdown, with all metadata `as_json`, or unchanged (`raw`). Raises
    SettingsError for a bad address or file, FetchError for a bad page.
    """
    if as_json and raw:
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
    if raw:
        text = asyncio.run(_source(page, html, url, settings))
        # A file gets the source unchanged; a terminal must not execute control sequences in it.
        typer.echo(visible(text) if sys.stdout.isatty() else text, nl=False)
        return
    read = asyncio.run(_read(page, html, url, settings))
    if as_json:
        # All pages are read by our own reader.
        facts = read.model_dump(mode="json") | {"trafilatura": False}
        say_json(json.dumps(facts, ensure_ascii=False))
    else:
        say(read.markdown)


def _read(
    page: str, html: Path | None, url: str, settings: Settings
) -> Coroutine[Any, Any, ReadPage]:
    if html is not None:
        return read_file(html, settings, checked_address(url))
    if "://" in page:
        from spadework.sessions.lookups.page_text import read  # a file needs no web client

        return read(page, settings)
    return read_file(Path(page), settings)


def _source(page: str, html: Path | None, url: str, settings: Settings) -> Coroutine[Any, Any, str]:
    if html is not None:
        return source_of_file(html, checked_address(url))
    if "://" in page:
        from spadework.sessions.lookups.page_text import source

        return source(page, settings)
    return source_of_file(Path(page))
