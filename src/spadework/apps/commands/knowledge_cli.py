"""`spadework knowledge …`: pages that runs have read; heavy imports are deferred."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps.options import AsJson, Home

if TYPE_CHECKING:
    from spadework.tools.knowledge import Knowledge, Which


knowledge = typer.Typer(
    help="List, forget or export the pages that runs have read.",
    rich_markup_mode=None,
    invoke_without_command=True,
)

Named = Annotated[
    list[str] | None,
    typer.Argument(metavar="[URL|HOST]...", help="Pages by their address, or all pages of a host."),
]
Older = Annotated[
    float | None,
    typer.Option("--older", metavar="DAYS", min=0, help="Only pages that were fetched longer ago."),
]


@knowledge.callback()
def knowledge_default(context: typer.Context, home: Home = None) -> None:
    """List the pages when no other command is given."""
    if context.invoked_subcommand is None:
        list_pages(home=home)


@knowledge.command("list")
def list_pages(
    named: Named = None, older: Older = None, as_json: AsJson = False, home: Home = None
) -> None:
    """List pages with the date they were fetched, newest first."""
    from spadework.apps.commands.known_pages import print_pages

    asyncio.run(print_pages(_store(home), _which(named, older), as_json))


@knowledge.command("forget")
def forget(
    named: Named = None,
    older: Older = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget all pages.")] = False,
    home: Home = None,
) -> None:
    """Delete pages, so that no later run uses them; no word of them remains in the store. Sessions
    keep their own copies.
    """
    from spadework.apps.commands.known_pages import forget_pages
    from spadework.errors import SettingsError

    if not (named or everything or older is not None):
        raise SettingsError("Say what is to be forgotten: a URL, a host, --older DAYS, or --all.")
    if everything and (named or older is not None):
        raise SettingsError("--all forgets every page: name no others beside it.")
    asyncio.run(forget_pages(_store(home), _which(named, older)))


@knowledge.command("export")
def export(
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="A folder for one Markdown file a page, or FILE.jsonl."
        ),
    ],
    named: Named = None,
    older: Older = None,
    home: Home = None,
) -> None:
    """Write pages to files: their text, source and fetch date."""
    from spadework.apps.commands.known_pages import export_pages

    asyncio.run(export_pages(_store(home), _which(named, older), output))


def _store(home: Path | None) -> Knowledge:
    from spadework.settings import Settings
    from spadework.tools.knowledge.store_choice import store_of

    return store_of(Settings.load(home=home))


def _which(named: list[str] | None, older: float | None) -> Which:
    from datetime import UTC, datetime, timedelta

    from spadework.errors import SettingsError
    from spadework.tools.knowledge import Which

    try:
        before = None if older is None else datetime.now(UTC) - timedelta(days=older)
    except OverflowError:
        raise SettingsError(f"--older cannot be {older:g}: no page is so old.") from None
    return Which(tuple(named or ()), before)
