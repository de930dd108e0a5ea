"""`search` and `index`: hits without a run, and a library made ready ahead of the first question."""

from __future__ import annotations

import asyncio
import json

import typer

from spadework.settings import Settings
from spadework.tools.fuse import reciprocal_rank_fusion
from spadework.tools.library import Library
from spadework.tools.rank import query_terms, relevance
from spadework.tools.search.choose import choose
from spadework.tools.search.failover import Search
from spadework.values import Hit, Query


def search_once(query: str, as_json: bool, settings: Settings) -> None:
    """Print the fused hits of all chosen providers; what failed goes to stderr. Exits 1 when every provider failed."""
    hits, failed, providers = asyncio.run(_search(query, settings))
    for reason in failed:
        typer.echo(reason, err=True)
    if as_json:
        typer.echo(json.dumps([hit.model_dump(mode="json") for hit in hits], ensure_ascii=False))
    else:
        for n, hit in enumerate(hits, 1):
            typer.echo(f"{n:>2}. {hit.title or hit.url}\n    {hit.url}\n    {hit.snippet[:160]}")
    if failed and len(failed) == providers:
        raise typer.Exit(1)


async def _search(query: str, settings: Settings) -> tuple[list[Hit], list[str], int]:
    opened: list[Library] = []

    async def open_library() -> Library:
        opened.append(await Library.open(settings.library, home=settings.home, progress=lambda text: typer.echo(text, err=True)))
        return opened[0]

    choice = await choose(settings, open_library)
    for notice in choice.notices:
        typer.echo(notice, err=True)
    search = Search(choice.providers)
    found = await search.search(Query(text=query), limit=settings.search_results, seconds=settings.search_seconds)
    terms = query_terms(query)
    lists = [
        [hit.model_copy(update={"relevance": relevance(hit.title, hit.snippet, hit.position, terms)}) for hit in hits]
        for _, hits in found
        if isinstance(hits, list)
    ]
    failed = [f"{name}: {hits}" for name, hits in found if not isinstance(hits, list)]
    for library in opened:
        library.close()
    return reciprocal_rank_fusion(lists, k=settings.rrf_k), failed, len(choice.providers)


def index_paths(settings: Settings) -> None:
    """Build or bring up to date the index of the library of the settings."""

    async def build() -> Library:
        return await Library.open(settings.library, home=settings.home, progress=lambda text: typer.echo(text, err=True))

    library = asyncio.run(build())
    typer.echo(f"Indexed {library.describe}.")
    for skipped in library.skipped:
        typer.echo(f"Not read: {skipped}", err=True)
    library.close()
