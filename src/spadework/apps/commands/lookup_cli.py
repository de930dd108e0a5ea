"""Commands without a run: read a page, search, index, check this machine, statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spadework.apps import options
from spadework.home import home_of

#: Prefix of each finding of `doctor`.
_MARKS = {"works": "ok   ", "slow": "slow ", "broken": "wrong", "hint": "note "}


def read(
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="A web address or a file.")] = "",
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Saved HTML to read instead of fetching; needs --url."),
    ] = None,
    url: Annotated[str, typer.Option("--url", help="Where the saved HTML comes from.")] = "",
    level: Annotated[
        str | None,
        typer.Option("--level", help="Begin at 0: plain HTTP, 1: like a browser, 2: a browser."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the text and all that is known of it as one JSON object."
        ),
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the source as it came, nothing cleaned.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Print one page as clean Markdown."""
    from spadework.apps.commands.read_command import read_one

    settings = options.settings_from(home=home, min_level=level)
    read_one(page, html, url, settings, as_json=as_json, raw=raw)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    search: options.Search = None,
    library: options.Libraries = None,
    search_results: Annotated[
        str | None, typer.Option("--limit", help="Most hits of each provider.")
    ] = None,
    search_country: options.Country = None,
    search_language: options.Language = None,
    search_news: options.News = None,
    search_sites: options.Sites = None,
    search_avoid_sites: options.AvoidSites = None,
    search_since: options.Since = None,
    search_until: options.Until = None,
    preset: options.Preset = None,
    min_relevance: options.Relevance = None,
    as_json: options.AsJson = False,
    home: options.Home = None,
) -> None:
    """Print ranked hits."""
    from spadework.apps.commands.search_command import search_once

    search_once(query, as_json, options.settings_of(context))


def index(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; none: the documentation installed with Python."),
    ] = None,
    home: options.Home = None,
) -> None:
    """Index files and folders ahead of the first question."""
    from spadework.apps.commands.search_command import index_paths

    index_paths(options.settings_from(home=home, library=tuple(paths) if paths else None))


def doctor(
    context: typer.Context,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Check what works here: models, search, pages and folders. Asks each model for one word, each
    search provider once, and tries the browser.
    """
    import asyncio

    from spadework.apps.messages import say
    from spadework.sessions.health import probe

    settings = options.settings_of(context)

    async def examine() -> bool:  # printed before anything that a thread still waits for
        found = await probe(settings)
        for check in found:
            say(f"{_MARKS[check.state]} {check.line}")
        return all(check.works for check in found)

    raise typer.Exit(0 if asyncio.run(examine()) else 1)


def stats(as_json: options.AsJson = False, home: options.Home = None) -> None:
    """Show what your sessions found and cost, and what to look into."""
    from spadework.apps.commands.statistics import print_statistics

    print_statistics(home_of(home), as_json)
