"""The list of sessions, for the terminal."""

from __future__ import annotations

from pathlib import Path

from spadework.apps.messages import say, say_aside
from spadework.sessions.storage.session_list import Listed, list_sessions
from spadework.tools.text.markdown import one_line


def print_list(home: Path) -> None:
    """Print one line per session: id, status, question; for an unreadable one, why."""
    lines = [_line(session) for session in list_sessions(home, say_aside)]
    if lines:
        say("\n".join(lines))
    else:
        say("There are no sessions yet.", err=True)


def _line(session: Listed) -> str:
    if session.unreadable:
        return f"{session.id}  {'unreadable':<14}  {session.unreadable}"
    return f"{session.id}  {session.status or 'unfinished':<14}  {one_line(session.query)}"
