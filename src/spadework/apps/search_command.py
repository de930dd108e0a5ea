"""`search` and `index`: hits without a run, and a library made ready ahead of the first
question.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import typer

from spadework.apps.saying import say
from spadework.sessions.indexing import Indexed, index
from spadework.sessions.search_only import Looked, Ranked, search
from spadework.settings import Settings
from spadework.values import Found

SNIPPET_CHARS = 160


def search_once(query: str, as_json: bool, settings: Settings) -> None:
    """Print the fused hits of all chosen providers, as a run would rank and select them; what
    failed goes to stderr.

    Exits 1 when every provider failed.
    """
    found: Looked = asyncio.run(search(query, settings, tell=_tell))
    for said in (*found.notices, *found.failed):
        say(said, err=True)
    if as_json:
        typer.echo(json.dumps([_explain_hit(one) for one in found.hits], ensure_ascii=False))
    else:
        for n, one in enumerate(found.hits, 1):
            say(_show_hit(n, one))
    if not found.answered:
        raise typer.Exit(1)


def _explain_hit(one: Ranked) -> dict[str, Any]:
    """A hit with the parts of its relevance, each 0..1 before it is weighed (S5), and whether and
    why a run would read it.
    """
    return one.hit.model_dump(mode="json") | one.model_dump(mode="json", exclude={"hit"})


def _show_hit(n: int, one: Ranked) -> str:
    """A hit in a few lines."""
    hit = one.hit
    dated = f" · {hit.published_at:%Y-%m-%d}" if hit.published_at else ""
    scores = f"relevance {hit.relevance:.2f} · rrf {hit.rrf:.4f}{dated} · {_places(hit.found_by)}"
    lines = (
        f"{n:>2}. {hit.title or hit.url}",
        hit.url,
        scores,
        one.reason,
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
    async with aclosing(index(settings, _tell)) as done:
        async for made in done:
            if isinstance(made, Indexed):
                left_out = f"; {len(made.skipped)} left out" if made.skipped else ""
                say(f"Indexed {made.holds}{left_out}.")
                for skipped in made.skipped:
                    say(f"Not read: {skipped}", err=True)
            else:
                say(f"Embedded with {made.by}: {made.texts} new texts, {made.tokens} tokens.")


def _tell(text: str) -> None:
    say(text, err=True)
