"""`search` and `index`: hits without a run, and a library made ready ahead of the first
question.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import typer

from spadework.apps.saying import say
from spadework.graph.foreseeing import counting
from spadework.graph.searching import fused_hits, ranked_hits
from spadework.settings import Settings
from spadework.tools.dense.meaning import meaning_of
from spadework.tools.foreseen import foreseen
from spadework.tools.library import Library
from spadework.tools.rank import query_terms, relevance_parts
from spadework.tools.search.choose import choose
from spadework.tools.search.wishes import wished
from spadework.tools.select import Selection, preset_of, select
from spadework.tools.selected import reason
from spadework.values import Found, Hit, Query

SNIPPET_CHARS = 160


@dataclass(frozen=True)
class Searched:
    """What a search gave: fused hits, best first, which of them a run would read, what failed, and
    how many were asked.
    """

    hits: list[Hit]
    selection: Selection
    failed: list[str]
    asked: int


def search_once(query: str, as_json: bool, settings: Settings) -> None:
    """Print the fused hits of all chosen providers, as a run would rank and select them; what
    failed goes to stderr.

    Exits 1 when every provider failed.
    """
    found = asyncio.run(_search(wished(Query(text=query), settings, query), settings))
    for said in found.failed:
        say(said, err=True)
    if as_json:
        typer.echo(
            json.dumps([_explained(hit, found.selection) for hit in found.hits], ensure_ascii=False)
        )
    else:
        for n, hit in enumerate(found.hits, 1):
            say(_shown(n, hit, found.selection))
    if found.asked and len(found.failed) == found.asked:
        raise typer.Exit(1)


async def _search(query: Query, settings: Settings) -> Searched:
    async with AsyncExitStack() as opened:
        meaning = meaning_of(settings)

        async def open_library() -> Library:
            library = await Library.open(
                settings.library, home=settings.home, progress=_tell, meaning=meaning
            )
            opened.callback(library.close)
            if meaning:
                opened.push_async_callback(meaning.close)
            return library

        choice = await choose(settings, open_library)
        for notice in choice.notices:
            say(notice, err=True)
        search = choice.search(settings)
        opened.push_async_callback(search.close)
        found = await search.search(
            query, limit=settings.search_results, seconds=settings.search_seconds
        )
        for said in [
            *search.waits.sentences(),
            *search.unmet.sentences(),
            *(f"{one.reason} {one.effect}" for one in (meaning.problems if meaning else [])),
        ]:
            say(said, err=True)
    hits = fused_hits(
        [ranked_hits(hits, query) for _, hits in found if isinstance(hits, list)], settings
    )
    hits = [counting(hit, foreseen(hit.url, hit.title).worth) for hit in hits]
    selection = select(
        hits,
        preset=preset_of(settings),
        pages_per_domain=settings.pages_per_domain,
    )
    return Searched(
        hits,
        selection,
        [f"{name}: {hits}" for name, hits in found if not isinstance(hits, list)],
        len(found),
    )


def _explained(hit: Hit, selection: Selection) -> dict[str, Any]:
    """A hit with the parts of its relevance, each 0..1 before it is weighed (S5), and whether and
    why a run would read it.
    """
    parts = relevance_parts(hit.title, hit.snippet, hit.position, query_terms(hit.query))
    return hit.model_dump(mode="json") | {
        "parts": parts,
        "shape": foreseen(hit.url, hit.title).shape,
        "selected": hit in selection.chosen,
        "reason": reason(hit, selection),
    }


def _shown(n: int, hit: Hit, selection: Selection) -> str:
    """A hit in a few lines."""
    dated = f" · {hit.published_at:%Y-%m-%d}" if hit.published_at else ""
    scores = f"relevance {hit.relevance:.2f} · rrf {hit.rrf:.4f}{dated} · {_places(hit.found_by)}"
    lines = (
        f"{n:>2}. {hit.title or hit.url}",
        hit.url,
        scores,
        reason(hit, selection),
        hit.snippet[:SNIPPET_CHARS],
    )
    return "\n    ".join(line for line in lines if line)


def _places(found_by: tuple[Found, ...]) -> str:
    """Where a hit was found, such as "searxng 2, brave 5"."""
    return ", ".join(dict.fromkeys(f"{found.provider} {found.rank}" for found in found_by))


def index_paths(settings: Settings) -> None:
    """Build or bring up to date the index of the library of the settings, and the vectors of its
    passages where a model is named.
    """
    asyncio.run(_index(settings))


async def _index(settings: Settings) -> None:
    async with AsyncExitStack() as opened:
        if meaning := meaning_of(settings):
            opened.push_async_callback(meaning.close)
        library = await Library.open(
            settings.library, home=settings.home, progress=_tell, meaning=meaning
        )
        opened.callback(library.close)
        left_out = f"; {len(library.skipped)} left out" if library.skipped else ""
        say(f"Indexed {library.describe}{left_out}.")
        for skipped in library.skipped:
            say(f"Not read: {skipped}", err=True)
        if meaning:
            asked = await library.embed(
                lambda done: _tell(f"Embedding with {meaning.embeds.name}: {done} documents done.")
            )
            say(
                f"Embedded with {meaning.embeds.name}: {asked} new texts, {meaning.embeds.tokens}"
                " tokens."
            )


def _tell(text: str) -> None:
    say(text, err=True)
