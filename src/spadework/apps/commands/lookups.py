"""Implement the lookup commands and the commands for stored pages."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import typer

from spadework.apps.messages import say, say_aside, say_json
from spadework.apps.terminal.question_input import searching_as
from spadework.apps.view_model import foretold
from spadework.errors import SettingsError
from spadework.sessions.documents import ReadPage, read_file
from spadework.sessions.library_index import Indexed, index
from spadework.sessions.search_only import Preview, Ranked, preview, search
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.knowledge import Entry, Knowledge, Which
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Page
from spadework.visible import one_line


def read_one(page: str, settings: Settings, level: int, *, as_json: bool) -> None:
    """Print a page as Markdown or JSON. `level` is the first reading level to try, from 0 (plain
    HTTP) to 2 (a browser). Raises SettingsError for a bad address or file, and FetchError for an
    unreadable page.
    """
    if not page:
        raise SettingsError("Say what to read: an address or a file.")
    read = asyncio.run(_read(page, settings, level))
    if as_json:
        # Always false, because spadework's own reader, not trafilatura, reads every page.
        facts = read.model_dump(mode="json") | {"trafilatura": False}
        say_json(json.dumps(facts, ensure_ascii=False))
    else:
        say(read.markdown)


def _read(page: str, settings: Settings, level: int) -> Coroutine[Any, Any, ReadPage]:
    if "://" in page:
        from spadework.sessions.page_sessions import read  # only addresses need this import

        return read(page, settings, level=level)
    return read_file(Path(page), settings)


SNIPPET_CHARS = 160


def search_once(query: str, as_json: bool, settings: Settings, limit: int) -> None:
    """Print the merged, ranked hits. Exit with code 1 if every provider failed."""
    found = asyncio.run(search(query, settings, limit=limit, tell=say_aside))
    for said in (*found.notices, *found.failed):
        say(said, err=True)
    if as_json:
        rows = [
            one.hit.model_dump(mode="json") | one.model_dump(mode="json", exclude={"hit"})
            for one in found.hits
        ]
        say_json(json.dumps(rows, ensure_ascii=False))
    else:
        for n, one in enumerate(found.hits, 1):
            say(_show_hit(n, one))
    if not found.answered:
        raise typer.Exit(1)


def _show_hit(n: int, one: Ranked) -> str:
    hit = one.hit
    dated = f" · {hit.published_at:%Y-%m-%d}" if hit.published_at else ""
    places = ", ".join(dict.fromkeys(f"{found.provider} {found.rank}" for found in hit.found_by))
    scores = f"relevance {hit.relevance:.2f} · rrf {hit.rrf:.4f}{dated} · {places}"
    head, snippet = f"{n:>2}. {hit.title or hit.url}", hit.snippet[:SNIPPET_CHARS]
    lines = (head, hit.url, scores, one.reason, snippet)
    return "\n    ".join(line for line in lines if line)


def index_paths(settings: Settings) -> None:
    """Update the library's index, and its vectors if an embedding model is set."""
    asyncio.run(_index(settings))


async def _index(settings: Settings) -> None:
    async with aclosing(index(settings, say_aside)) as done:
        async for made in done:
            if isinstance(made, Indexed):
                left_out = f"; {len(made.skipped)} left out" if made.skipped else ""
                say(f"Indexed {made.holds}{left_out}.")
                for skipped in made.skipped:
                    say(f"Not read: {skipped}", err=True)
            else:
                say(f"Embedded {made.texts} new texts with {made.by} ({made.tokens} tokens).")


def print_plan(question: str, settings: Settings, follows: str, as_json: bool) -> None:
    """Print a question's plan and estimated cost. Problems go to stderr."""
    settings = searching_as(settings, follows)
    session = Session.start(question, settings=settings, follows=follows)
    told: list[str] = []

    def tell(text: str) -> None:
        told.append(text)
        say(f"Note: {text}", err=True)

    made = asyncio.run(preview(session, tell))
    for problem in made.problems:
        if (said := f"{problem.reason} {problem.effect}") not in told:
            say(said, err=True)
    if as_json:
        say_json(made.model_dump_json())
    else:
        say("\n".join(_lines(made)))


def _lines(made: Preview) -> Iterator[str]:
    plan = made.plan
    fresh = "" if plan.freshness == "any" else f", {plan.freshness} sources wanted"
    about = f"; about {', '.join(plan.subjects)}" if plan.subjects else ""
    yield plan.question
    yield f"{plan.question_type}, {plan.complexity}{fresh}{about}"
    for n, topic in enumerate(plan.topics, 1):
        yield ""
        yield f"{n:>2}. {topic.name}"
        if topic.question != topic.name:
            yield f"    {topic.question}"
        must = f"; must cover {', '.join(topic.must_cover)}" if topic.must_cover else ""
        yield f"    expects {topic.expects}{must}"
        yield f"    searches {' | '.join(query.text for query in topic.queries)}"
    yield ""
    yield f"Estimate: {foretold(made.forecast)}"


LINES = ".jsonl"
#: The metadata fields in the front matter of an exported page.
_HEAD = ("url", "title", "fetched_at", "published_at")
_FACTS = {*_HEAD, "media_type", "chars", "content_hash"}
_NAME_CHARS = 80


async def print_pages(store: Knowledge, which: Which, as_json: bool) -> None:
    """Print one line per page, and the number of pages on stderr."""
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
    """Delete pages and print how many were deleted."""
    count = await store.forget(which)
    await store.close()
    say(f"Forgot {_pages(count)}.", err=True)


async def export_pages(store: Knowledge, which: Which, output: Path) -> None:
    """Write pages as JSON Lines or Markdown. Raises SettingsError for a bad path."""
    if output.suffix and output.suffix != LINES:
        raise SettingsError(
            f"Pages cannot be exported to {output.name}. Name a folder or a {LINES} file."
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
        told = "".join(f"{line}\n" for line in lines)
        write_atomically(output, told.encode(errors="replace"), 0o666)
        return
    output.mkdir(parents=True, exist_ok=True)
    for one in entries:
        told = f"{_head(one.page)}{one.text.rstrip()}\n"
        write_atomically(output / _name(one.page), told.encode(errors="replace"), 0o666)


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
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in _facts(page).items()
        if name in _HEAD and value
    ]
    return f"---\n{''.join(lines)}---\n\n"


def _name(page: Page) -> str:
    readable = re.sub(r"[^\w.-]+", "-", page.url.partition("://")[2])[:_NAME_CHARS].strip("-.")
    # Pages can share their text and the beginning of their URLs, so hash the whole URL.
    own = hashlib.sha256(page.url.encode(errors="replace")).hexdigest()[:8]
    return f"{readable}-{own}.md"


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
