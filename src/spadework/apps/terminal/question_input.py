"""Input of a question: its text, attachments, piped text, and the session it follows up."""

from __future__ import annotations

import mimetypes
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spadework.apps.messages import say_aside
from spadework.apps.outputs import checked_attachments
from spadework.apps.terminal.screen import can_ask
from spadework.errors import SettingsError
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.sessions.storage.session_list import readable_sessions
from spadework.settings import Settings
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.stores.page_store import write_atomically

#: Seconds until a silent pipe is ignored: cron, CI, ssh and others leave one open that never sends
#: anything.
FIRST_BYTE_SECONDS = 1.0
#: Maximum seconds of silence once something has come.
SILENCE_SECONDS = 10.0
#: Maximum share of a run's time spent reading input.
MOST_OF_THE_TIME = 0.5
_CHUNK = 65_536


@dataclass(frozen=True)
class Material:
    """Bytes with a name whose extension fits them."""

    name: str
    body: bytes


def material(
    *, most: int, minutes: float, asked_for: bool, tell: Callable[[str], None]
) -> Material | None:
    """Return standard input, None if it is not a pipe or file, or stays silent. `asked_for`: wait
    out the silence.

    Raises SettingsError for more than `most` bytes or an unreadable format. `tell` is called with
    what was ignored or cut.
    """
    if (descriptor := _readable()) is None:
        if asked_for:
            raise SettingsError("--attach - needs something on standard input: a pipe or a file.")
        return None
    body = _read(
        descriptor, most, time.monotonic() + minutes * 60 * MOST_OF_THE_TIME, asked_for, tell
    )
    if len(body) > most:
        raise SettingsError(
            f"Standard input has more than {most} bytes, the most that is read (setting"
            " page_bytes)."
        )
    if not body.strip():
        return None
    kind = kind_of(body, "", "")
    if not kind.reader:
        raise SettingsError(f"Standard input cannot be read as material: it is {kind.media_type}.")
    return Material(f"stdin{mimetypes.guess_extension(kind.media_type) or '.txt'}", body)


def _readable() -> int | None:
    """Return stdin's descriptor if it can hold material, which a terminal cannot."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return None
    return descriptor if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode) else None


def _read(
    descriptor: int, most: int, end: float, asked_for: bool, tell: Callable[[str], None]
) -> bytes:
    """Read to the end of input, one byte over `most`, or too long a silence."""
    body = b""
    while len(body) <= most:
        silence = end - time.monotonic()
        if not asked_for:
            silence = min(silence, SILENCE_SECONDS if body else FIRST_BYTE_SECONDS)
        # Windows can only wait for sockets; there the read itself blocks.
        if os.name != "nt" and not select.select([descriptor], [], [], max(0.0, silence))[0]:
            tell(
                f"Standard input did not end: the {len(body)} bytes that came are used."
                if body
                else "Nothing came on standard input: it is left alone. With --attach - it is"
                " waited for."
            )
            break
        if not (chunk := os.read(descriptor, min(_CHUNK, most + 1 - len(body)))):
            break
        body += chunk
    return body


STDIN = Path("-")


def session_of(
    question: str,
    settings: Settings,
    attach: Sequence[Path] = (),
    follows: str = "",
    *,
    last: bool = False,
) -> Session:
    """Return a question's session with its attachments, not started; it follows up the `last`
    session or the one named. Raises SettingsError for invalid input, SessionNotFound.
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
    """Return the id of the session to follow up, "" for none. Raises SettingsError."""
    if last and follows:
        raise SettingsError(
            "--continue and --follow cannot be used together: each names the session to follow up."
        )
    return last_finished(home) if last else follows


def searching_as(settings: Settings, follows: str) -> Settings:
    """Take over the search settings of the followed session unless options or environment set them;
    missing folders are dropped. For local users only: a server's callers search what the server
    searches. Raises SessionNotFound.
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
    """Return the id of the newest session with a report on a question. Raises SettingsError if
    none.
    """
    ended = (session for session in readable_sessions(home) if session.status)
    found = next((session.id for session in ended if session.kind == "research"), None)
    if found is None:
        raise SettingsError("There is no finished session to follow up: ask a question first.")
    return found


def _keep(session: Session, piped: Material) -> None:
    # In the session's folder, so that it can be resumed and is deleted with it.
    file = session.folder / "material" / piped.name
    try:
        write_atomically(file, piped.body)
    except OSError as error:
        raise SettingsError(
            f"What was piped in cannot be kept in {file.parent}: {error.strerror}. Choose another"
            " --home."
        ) from None
    session.attach([file])
