"""The commands that take up a session that is there: go on with it, or run it once more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spadework.apps import options


def resume(
    session_id: Annotated[
        str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")
    ],
    output: options.Output = None,
    as_json: options.AsJson = False,
    events: options.Events = False,
    minutes: options.Minutes = None,
    home: options.Home = None,
) -> None:
    """Take up a session that was cut off. What it paid for is not paid again."""
    from spadework.apps.outputs import Output as Wanted

    wanted = Wanted(output, as_json, events).checked()
    base = options.settings_from(home=home)
    from spadework.apps.machines import bring_session

    bring_session(base.home, session_id)
    from spadework.apps.terminal.running import run
    from spadework.sessions.session import Session

    raise typer.Exit(run(Session.resume(session_id, home=base.home, minutes=minutes), wanted))


def replay(
    session_id: Annotated[
        str, typer.Argument(help="The id of a session, as `spadework sessions` shows it.")
    ],
    model: Annotated[
        str | None, typer.Option("--model", help="Chat model that is asked what was not recorded.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Write the report to FILE.md, .html, .pdf, .docx or .json."),
    ] = None,
    home: options.Home = None,
) -> None:
    """Run a finished session again from what it has heard. It needs no network, and comes to the
    same report.
    """
    from spadework.apps.machines import bring_recording
    from spadework.apps.replay_command import replay_one

    place = options.settings_from(home=home).home
    bring_recording(place, session_id)
    raise typer.Exit(replay_one(place, session_id, model, to))
