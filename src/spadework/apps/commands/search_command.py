"""`search` and `index`: results without a run, and a library indexed in advance."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import typer

from spadework.apps.messages import say, say_aside, say_json
from spadework.sessions.library_index import Indexed, index
from spadework.sessions.lookups.search_only import Ranked, search
from spadework.settings import Settings

SNIPPET_CHARS = 160


def search_once(query: str, as_json: bool, settings: Settings) -> None:
    """Print the fused results of all providers, ranked and selected as in a run; failures go to
    stderr.

    Exits with 1 if every provider failed.
    """
    found = asyncio.run(search(query, settings, tell=say_aside))
    for said in (*found.notices, *found.failed):
        say(said, err=True)
    if as_json:
        # A result, the parts of its relevance, and whether and why a run would read it.
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
                say(f"Embedded with {made.by}: {made.texts} new texts, {made.tokens} tokens.")
