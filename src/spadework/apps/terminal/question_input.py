"""What `ask` is given: the question, files, what is piped in, and the session it follows up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spadework.apps.outputs import checked_attachments
from spadework.apps.saying import say_aside
from spadework.apps.terminal.abilities import can_ask
from spadework.apps.terminal.piped_input import Material, material
from spadework.errors import SettingsError
from spadework.sessions.files import read_metadata, session_folder
from spadework.sessions.listing import readable_sessions
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.stores.page_store import write_atomically

STDIN = Path("-")


def session_of(
    question: str,
    settings: Settings,
    attach: Sequence[Path] = (),
    follows: str = "",
    *,
    last: bool = False,
) -> Session:
    """The session of a question with all that came along, not begun; it follows up the `last` one
    or the one named. Raises SettingsError for what cannot be here, SessionNotFound.
    """
    for name in sorted({"clarify", "approve"} & settings.given):
        if getattr(settings, name) and not can_ask():
            raise SettingsError(f"--{name} needs a terminal: there is nobody here to answer.")
    attached = checked_attachments([path for path in attach if path != STDIN])
    before = followed_session(settings.home, follows, last=last)
    settings = searching_as(settings, before)
    session = Session.start(question, settings=settings, attachments=attached, follows=before)
    piped = material(
        most=settings.page_bytes,
        minutes=settings.minutes,
        asked_for=STDIN in attach,
        tell=lambda text: say_aside(f"Note: {text}"),
    )
    if piped:
        _keep(session, piped)
    return session


def followed_session(home: Path, follows: str, *, last: bool) -> str:
    """The id of the session to follow up, "" for none. Raises SettingsError."""
    if last and follows:
        raise SettingsError(
            "--continue and --follow cannot be used together: each names the session to follow up."
        )
    return last_finished(home) if last else follows


def searching_as(settings: Settings, follows: str) -> Settings:
    """The settings with where the session that is followed was told to search, where nothing else
    is told by option or environment; folders that are gone are left out. Only for who sits at this
    machine: a server's callers search what the server searches. Raises SessionNotFound.
    """
    if not follows:
        return settings
    kept = read_metadata(session_folder(settings.home, follows)).settings
    open_ = {"search", "library"} - settings.model_fields_set
    told = {name: kept[name] for name in open_ if name in kept}
    if "library" in told:
        told["library"] = [path for path in told["library"] if Path(path).exists()]
        if not told["library"]:
            return settings
    return settings.with_(**told) if told else settings


def last_finished(home: Path) -> str:
    """The id of the newest session with a report of a question. Raises SettingsError for none."""
    ended = (session for session in readable_sessions(home) if session.status)
    found = next((session.id for session in ended if session.kind == "research"), None)
    if found is None:
        raise SettingsError("There is no finished session to follow up: ask a question first.")
    return found


def _keep(session: Session, piped: Material) -> None:
    # In the folder of the session, which can then be taken up; it goes when that goes.
    file = session.folder / "material" / piped.name
    try:
        write_atomically(file, piped.body)
    except OSError as error:
        raise SettingsError(
            f"What was piped in cannot be kept in {file.parent}: {error.strerror}. Choose another"
            " --home."
        ) from None
    session.attach([file])
