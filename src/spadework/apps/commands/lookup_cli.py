"""Commands that start no research: read, search, index, doctor, stats and knowledge."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps import options
from spadework.apps.options import AsJson, Home
from spadework.home import home_of

if TYPE_CHECKING:
    from spadework.tools.knowledge import Knowledge, Which


_MARKS = {"works": "ok   ", "slow": "slow ", "broken": "wrong", "hint": "note "}


def read(
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="A web address or a file.")] = "",
    level: Annotated[
        int,
        typer.Option(
            min=0,
            max=2,
            help="First level to try: 0 (plain HTTP), 1 (with browser headers) or 2 (a browser).",
        ),
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the text and its metadata as one JSON object.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Print one page as clean Markdown."""
    from spadework.apps.commands.lookups import read_one

    read_one(page, options.settings_from(home=home), level, as_json=as_json)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    search: options.Search = None,
    library: options.Libraries = None,
    limit: Annotated[
        int | None, typer.Option(min=1, max=100, help="Maximum hits per provider.")
    ] = None,
    search_country: options.Country = None,
    search_language: options.Language = None,
    search_kinds: options.Kinds = None,
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
    from spadework.apps.commands.lookups import search_once

    search_once(query, as_json, options.settings_of(context), limit or 0)


def index(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files and folders to index. Default: the documentation installed with Python."
        ),
    ] = None,
    home: options.Home = None,
) -> None:
    """Index files and folders ahead of the first question."""
    from spadework.apps.commands.lookups import index_paths

    index_paths(options.settings_from(home=home, library=tuple(paths) if paths else None))


def doctor(
    context: typer.Context,
    search: options.Search = None,
    library: options.Libraries = None,
    model: options.Model = None,
    home: options.Home = None,
) -> None:
    """Check what works here: models, search, pages and folders. This asks each model for one word,
    queries each search provider once, and tries the browser.
    """
    from spadework.apps.messages import say
    from spadework.sessions.health import probe

    settings = options.settings_of(context)

    async def examine() -> bool:  # prints before `asyncio.run` waits for threads
        found = await probe(settings)
        for check in found:
            say(f"{_MARKS[check.state]} {check.line}")
        return all(check.works for check in found)

    raise typer.Exit(0 if asyncio.run(examine()) else 1)


def stats(as_json: options.AsJson = False, home: options.Home = None) -> None:
    """Show what your sessions found and cost, and what to look into."""
    from spadework.apps.commands.statistics import print_statistics

    print_statistics(home_of(home), as_json)


knowledge = typer.Typer(
    help="List, forget or export the pages that earlier runs read.",
    rich_markup_mode=None,
    invoke_without_command=True,
)

Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="[URL|HOST]...", help="URLs of pages, or hosts (all their pages)."),
]
Older = Annotated[
    float | None,
    typer.Option(
        "--older", metavar="DAYS", min=0, help="Only pages fetched more than this many days ago."
    ),
]


@knowledge.callback()
def knowledge_default(context: typer.Context, home: Home = None) -> None:
    """List the stored pages when no subcommand is given."""
    if context.invoked_subcommand is None:
        list_pages(home=home)


@knowledge.command("list")
def list_pages(
    named: Named = None, older: Older = None, as_json: AsJson = False, home: Home = None
) -> None:
    """List stored pages with their fetch dates, newest first."""
    from spadework.apps.commands.lookups import print_pages

    asyncio.run(print_pages(_store(home), _which(named, older), as_json))


@knowledge.command("forget")
def forget(
    named: Named = None,
    older: Older = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget all pages.")] = False,
    home: Home = None,
) -> None:
    """Delete pages for good, so that no later run uses them. Sessions keep their own copies."""
    from spadework.apps.commands.lookups import forget_pages
    from spadework.errors import SettingsError

    if not (named or everything or older is not None):
        raise SettingsError("Say what to forget: a URL, a host, --older DAYS, or --all.")
    if everything and (named or older is not None):
        raise SettingsError("--all cannot be combined with a URL, a host or --older.")
    asyncio.run(forget_pages(_store(home), _which(named, older)))


@knowledge.command("export")
def export(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A folder (one Markdown file per page) or FILE.jsonl."),
    ],
    named: Named = None,
    older: Older = None,
    home: Home = None,
) -> None:
    """Export pages to files, each with its text, source and fetch date."""
    from spadework.apps.commands.lookups import export_pages

    asyncio.run(export_pages(_store(home), _which(named, older), output))


def _store(home: Path | None) -> Knowledge:
    from spadework.settings import Settings
    from spadework.tools.knowledge import store_of

    return store_of(Settings.load(home=home))


def _which(named: list[str] | None, older: float | None) -> Which:
    from datetime import UTC, datetime, timedelta

    from spadework.errors import SettingsError, must_be
    from spadework.tools.knowledge import Which

    try:
        before = None if older is None else datetime.now(UTC) - timedelta(days=older)
    except OverflowError:
        raise SettingsError(must_be("--older", "the age of a page in days", older)) from None
    return Which(tuple(named or ()), before)
