"""Print, export, delete and redraw stored sessions."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from spadework.apps.messages import say, say_json
from spadework.apps.outputs import Output, print_report as draw_report, write_output
from spadework.errors import SessionError
from spadework.sessions.record.records import delete_session, draft_of, redraw as redrawn
from spadework.sessions.storage.archive import pack
from spadework.sessions.storage.files import (
    read_report,
    read_result,
    session_files,
    session_folder,
    whole_result,
)
from spadework.settings import Settings
from spadework.values import Result
from spadework.visible import one_line


def print_report(home: Path, session_id: str, as_json: bool) -> None:
    """Print as much of a session's report as exists, or its result as JSON."""
    folder, mend = session_folder(home, session_id), f"`spadework resume {session_id}`"
    if not as_json and whole_result(folder) is None:
        if (report := read_report(folder)) is not None:
            typer.echo(report)
            said = f"The result of session {session_id} is missing; only its report is left."
            say(f"{said} To restore the result, run {mend}.", err=True)
            return
        if draft := draft_of(folder):
            typer.echo(draft)
            said = f"Session {session_id} is not finished. This is its answer so far."
            say(f"{said} To continue it, run {mend}.", err=True)
            return
    result = _result(home, session_id)
    if as_json:
        say_json(result.model_dump_json())
    else:
        draw_report(result)


def print_files(home: Path, session_id: str, as_json: bool) -> None:
    """Print each file's size, type and name, and each page's title."""
    files = session_files(session_folder(home, session_id))
    if as_json:
        say_json(json.dumps([one.model_dump() for one in files], ensure_ascii=False))
        return
    wide = max((len(one.kind) for one in files), default=0)
    for one in files:
        title = f"  {one_line(one.title)}" if one.title else ""
        say(f"{one.size:>11,}  {one.kind:<{wide}}  {one.name}{title}")


def export(home: Path, session_id: str, file: Path) -> None:
    """Write a finished session's report to a file, or the whole session to a .zip."""
    if file.suffix.lower() == ".zip":
        file.write_bytes(pack(session_folder(home, session_id), _result(home, session_id)))
        say(str(file), err=True)
        return
    Output(file).check()
    write_output(_result(home, session_id), file)
    say(str(file), err=True)


def delete(home: Path, session_id: str) -> None:
    """Delete a session that is not running."""
    delete_session(home, session_id)
    kept = (
        " Pages that the session read may still be in the knowledge store. To remove them, run"
        " `spadework knowledge forget`."
    )
    say(f"Deleted {session_id}.{kept if (home / 'knowledge').exists() else ''}", err=True)


def redraw(home: Path | None, session_id: str) -> None:
    """Regenerate a session's files and print their names."""
    settings = Settings.load(home=home)
    for name in redrawn(session_folder(settings.home, session_id), settings):
        say(name)


def _result(home: Path, session_id: str) -> Result:
    result = read_result(session_folder(home, session_id))
    if result is None:
        raise SessionError(
            f"Session {session_id} has no report yet.",
            hint=f"To continue it, run `spadework resume {session_id}`.",
        )
    return result
