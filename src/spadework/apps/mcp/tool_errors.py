"""Error messages for the calling model: what failed and what to do."""

from __future__ import annotations

from pydantic import ValidationError

from spadework.errors import (
    Blocked,
    BudgetSpent,
    DaySpent,
    FetchError,
    NotAllowed,
    SearchError,
    SessionBusy,
    SessionNotFound,
    SessionUnreadable,
    SettingsError,
    SpadeworkError,
    TooLarge,
    Unreadable,
)
from spadework.prompts import plain

MOST_CHARS = 600

_ANOTHER = "Choose another source, for instance from serp_search."
#: The first matching type gives the advice.
_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (
        SessionNotFound,
        'Call get_session_data with session_id "latest" for the newest session, or agentic_search'
        " to begin one.",
    ),
    (SessionUnreadable, "Its files are the server owner's to mend: begin another session."),
    (
        SessionBusy,
        "It is still running: read how far it is with get_session_data, part progress, and try"
        " again when it has ended.",
    ),
    (DaySpent, "Try again later."),
    (NotAllowed, f"Only public http and https addresses are read. {_ANOTHER}"),
    (Blocked, f"The site does not let itself be read. {_ANOTHER}"),
    (TooLarge, _ANOTHER),
    (Unreadable, _ANOTHER),
    (FetchError, "Try once more later, or choose another source."),
    (SearchError, "Try again in a minute, or name another provider."),
    (
        SettingsError,
        "Correct the argument and call again; a setting of the server is its owner's to change.",
    ),
    (BudgetSpent, "The owner of the server limits what a call may use."),
)


def word_fault(fault: BaseException) -> str:
    """Return one or two sentences about an expected error; "" for any other."""
    if isinstance(fault, ValidationError):
        return _argument(fault)
    if isinstance(fault, OSError):
        why = fault.strerror or "its disk or network failed"
        return f"The server cannot do this now: {why}. Try again later."
    if not isinstance(fault, (SpadeworkError, BudgetSpent)):
        return ""
    said = str(fault)[:MOST_CHARS].rstrip()
    advice = next((words for kind, words in _ADVICE if isinstance(fault, kind)), "")
    # It may contain text of a server.
    return plain(f"{said}{'' if said.endswith(('.', '!', '?')) else '.'} {advice}")


def _argument(fault: ValidationError) -> str:
    first = fault.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "The arguments"
    if first["type"] == "missing":
        return f"The argument {name} is missing: give it and call again."
    said = first["msg"].removeprefix("Value error, ")[:MOST_CHARS]
    return f"The argument {name} does not fit: {said}. Correct it and call again."
