"""Implement the session commands. Sessions on other machines are fetched first."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps.options import AsJson, Events, Home, Minutes, Output, settings_from
from spadework.backend import shared_backend
from spadework.home import home_of

sessions = typer.Typer(
    help="List, show, export, delete or redraw sessions and their files.",
    rich_markup_mode=None,
    invoke_without_command=True,
)

Known = Annotated[
    str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")
]


@sessions.callback()
def sessions_default(context: typer.Context, home: Home = None) -> None:
    """List sessions when no subcommand is given."""
    if context.invoked_subcommand is None:
        list_sessions(home)


@sessions.command("list")
def list_sessions(home: Home = None) -> None:
    """List sessions, newest first."""
    from spadework.apps.messages import say, say_aside
    from spadework.sessions.storage import session_list
    from spadework.visible import one_line

    bring_list(home_of(home))
    listed = [*session_list.list_sessions(home_of(home), say_aside)]
    for one in listed:
        state = "unreadable" if one.unreadable else one.status or "unfinished"
        say(f"{one.id}  {state:<14}  {one.unreadable or one_line(one.query)}")
    if not listed:
        say("There are no sessions yet.", err=True)


@sessions.command("show")
def show_session(session_id: str, as_json: AsJson = False, home: Home = None) -> None:
    """Print the report of a session."""
    from spadework.apps.commands.stored_sessions import print_report

    print_report(_fetch_session(home, session_id), session_id, as_json)


@sessions.command("files")
def list_files(session_id: str, as_json: AsJson = False, home: Home = None) -> None:
    """List the files of a session with their types."""
    from spadework.apps.commands.stored_sessions import print_files

    print_files(_fetch_session(home, session_id), session_id, as_json)


@sessions.command("export")
def export_session(
    session_id: str,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="FILE.md, .html, .pdf, .docx, .json, .bib, or .zip."),
    ],
    home: Home = None,
) -> None:
    """Write the report of a session to a file, or export the session as FILE.zip."""
    from spadework.apps.commands.stored_sessions import export

    export(_fetch_session(home, session_id), session_id, output)


@sessions.command("open")
def open_session(
    file: Annotated[Path, typer.Argument(help="FILE.zip, written by `spadework export`.")],
    home: Home = None,
) -> None:
    """Import a session that another machine exported as FILE.zip."""
    from spadework.apps.messages import say
    from spadework.sessions.storage.archive import unpack

    session_id = unpack(home_of(home), file)
    say(f"Opened {session_id}. To see its report, run: spadework show {session_id}", err=True)


@sessions.command("delete")
def delete_session(session_id: str, home: Home = None) -> None:
    """Delete a session and all its files."""
    from spadework.apps.commands.stored_sessions import delete

    delete(_fetch_session(home, session_id), session_id)
    forget_session(home_of(home), session_id)


@sessions.command("redraw")
def redraw_session(session_id: str, home: Home = None) -> None:
    """Regenerate a session's files from its events (events.jsonl)."""
    from spadework.apps.commands.stored_sessions import redraw

    redraw(home, session_id)


def resume(
    session_id: Known,
    output: Output = None,
    as_json: AsJson = False,
    events: Events = False,
    minutes: Minutes = None,
    home: Home = None,
) -> None:
    """Continue an interrupted session. Nothing is charged twice."""
    from spadework.apps.outputs import Output as Wanted

    wanted = Wanted(output, as_json, events).check()
    place = _fetch_session(settings_from(home=home).home, session_id)
    from spadework.apps.terminal.live_run import run
    from spadework.sessions.session import Session

    raise typer.Exit(run(Session.resume(session_id, home=place, minutes=minutes), wanted))


def replay(
    session_id: Known,
    model: Annotated[
        str | None, typer.Option("--model", help="Chat model for requests that were not recorded.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write the report to FILE.md, .html, .pdf, .docx or .json."),
    ] = None,
    home: Home = None,
) -> None:
    """Rerun a finished session from recordings. This needs no network and gives the same report."""
    from spadework.apps.commands.replay_command import replay_one

    place = settings_from(home=home).home
    bring_recording(place, session_id)
    raise typer.Exit(replay_one(place, session_id, model, to))


def _fetch_session(home: Path | None, session_id: str) -> Path:

    bring_session(home_of(home), session_id)
    return home_of(home)


if TYPE_CHECKING:
    from pydantic import SecretStr

#: The environment variable for `database_url`. Session commands load the settings only if it is
#: set.
VARIABLE = "SPADEWORK_DATABASE_URL"


def database_of(home: Path | None) -> SecretStr | None:
    """Return the URL of the workers' database, or None if none is set. Raises SettingsError."""
    if VARIABLE not in os.environ:
        return None
    url: SecretStr | None = settings_from(home=home).database_url
    return url


def bring_session(home: Path, session_id: str) -> None:
    """Fetch a session from the workers' database, if any. Raises SettingsError or DiskFailed."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().find(settings_from(home=home), session_id))


def bring_recording(home: Path, session_id: str) -> None:
    """Fetch the recording that a replay needs from the workers' database, if one is set."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().bring_recording(settings_from(home=home), session_id))


def bring_list(home: Path) -> None:
    """Fetch the list of sessions on all machines, if a database is set."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().know_all(settings_from(home=home), None))


def forget_session(home: Path, session_id: str) -> None:
    """Delete a session from the workers' database, if one is set."""
    if VARIABLE in os.environ:
        asyncio.run(shared_backend().forget(settings_from(home=home), session_id))
