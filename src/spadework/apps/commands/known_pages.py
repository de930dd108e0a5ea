"""Listing, deleting and exporting pages of the knowledge store."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from spadework.apps.messages import say, say_json
from spadework.errors import SettingsError
from spadework.tools.knowledge import Entry, Knowledge, Which
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.text.markdown import one_line
from spadework.values import Page

LINES = ".jsonl"
#: Metadata of a page; front matter comes first.
_HEAD = ("url", "title", "fetched_at", "published_at")
_FACTS = {*_HEAD, "media_type", "chars", "content_hash"}
#: Characters of a file name taken from the page's URL.
_NAME_CHARS = 80


async def print_pages(store: Knowledge, which: Which, as_json: bool) -> None:
    """Print one line per page on stdout, their number on stderr."""
    count = 0
    async with aclosing(_then_close(store, which)) as pages:
        async for page in pages:
            count += 1
            if as_json:
                say_json(json.dumps(_facts(page), ensure_ascii=False))
            else:
                say(_line(page))
    say(f"{_pages(count)} in {store.describes}.", err=True)


async def forget_pages(store: Knowledge, which: Which) -> None:
    """Delete pages and report how many."""
    count = await store.forget(which)
    await store.close()
    say(f"Forgot {_pages(count)}.", err=True)


async def export_pages(store: Knowledge, which: Which, output: Path) -> None:
    """Write pages as JSON lines or Markdown files. Raises SettingsError for a bad path."""
    if output.suffix and output.suffix != LINES:
        raise SettingsError(
            f"{output.name} cannot be exported to: name a folder, or a file that ends in {LINES}."
        )
    made = []
    async with aclosing(_then_close(store, which)) as pages:
        async for page in pages:
            if entry := await store.find(page.url):
                made.append(entry)
    await asyncio.to_thread(_write, made, output)
    say(f"Exported {_pages(len(made))} to {output}.", err=True)


def _write(entries: list[Entry], output: Path) -> None:
    if output.suffix == LINES:
        lines = (
            json.dumps(_facts(one.page) | {"markdown": one.text}, ensure_ascii=False)
            for one in entries
        )
        write_atomically(
            output, "".join(f"{line}\n" for line in lines).encode(errors="replace"), 0o666
        )
        return
    output.mkdir(parents=True, exist_ok=True)
    for one in entries:
        write_atomically(
            output / _name(one.page),
            f"{_head(one.page)}{one.text.rstrip()}\n".encode(errors="replace"),
            0o666,
        )


async def _then_close(store: Knowledge, which: Which) -> AsyncGenerator[Page, None]:
    try:
        async for page in store.pages(which):
            yield page
    finally:
        await store.close()


def _facts(page: Page) -> dict[str, Any]:
    return page.model_dump(mode="json", include=_FACTS)


def _line(page: Page) -> str:
    line = f"{page.fetched_at:%Y-%m-%d}  {page.chars:>8,}  {page.url}  {one_line(page.title)}"
    return line.rstrip()


def _head(page: Page) -> str:
    """Return a page's metadata as front matter. JSON strings are valid YAML."""
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in _facts(page).items()
        if name in _HEAD and value
    ]
    return f"---\n{''.join(lines)}---\n\n"


def _name(page: Page) -> str:
    readable = re.sub(r"[^\w.-]+", "-", page.url.partition("://")[2])[:_NAME_CHARS].strip("-.")
    # From the URL, not the text, since two URLs may share a prefix and a text.
    own = hashlib.sha256(page.url.encode(errors="replace")).hexdigest()[:8]
    return f"{readable}-{own}.md"


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
