"""Question input: text, attachments, piped text, and the session to follow up on."""

from __future__ import annotations

import mimetypes
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import create_output
from rich.console import Console
from rich.text import Text

from spadework.apps.messages import say_aside
from spadework.apps.outputs import checked_attachments
from spadework.apps.terminal.commands import (
    COMMANDS,
    Reply,
    answer,
    choice,
    how_to_answer,
    names,
    read_reply,
)
from spadework.apps.terminal.screen import WIDEST, can_ask
from spadework.errors import SettingsError
from spadework.events import APPROVE, Asked
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_metadata, session_folder
from spadework.sessions.storage.session_list import readable_sessions
from spadework.settings import Settings
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.stores.private_files import private_file, write_atomically
from spadework.values import Plan
from spadework.visible import one_line

#: Seconds to wait for a pipe's first byte. The wait is limited because cron, CI and ssh leave
#: unused pipes open.
FIRST_BYTE_SECONDS = 1.0
#: Maximum seconds of silence after the first byte.
SILENCE_SECONDS = 10.0
#: Maximum fraction of the run's time to spend on reading input.
MOST_OF_THE_TIME = 0.5
_CHUNK = 65_536


@dataclass(frozen=True)
class Material:
    """Piped input. The extension of `name` matches the input's type."""

    name: str
    body: bytes


def material(
    *, most: int, minutes: float, asked_for: bool, tell: Callable[[str], None]
) -> Material | None:
    """Read standard input. Return None if it is blank, or is neither a pipe nor a file.

    If `asked_for`, wait for input for up to half of the run's `minutes`. Otherwise, stop after a
    short silence. `tell` receives a note if the input does not arrive or end in time.

    Raises SettingsError if the input exceeds `most` bytes or has an unsupported format, or if it is
    `asked_for` but absent.
    """
    if (descriptor := _readable()) is None:
        if asked_for:
            raise SettingsError("--attach - needs a pipe or a file on standard input.")
        return None
    body = _read(
        descriptor, most, time.monotonic() + minutes * 60 * MOST_OF_THE_TIME, asked_for, tell
    )
    if len(body) > most:
        raise SettingsError(
            f"Standard input has more than {most} bytes, the limit of the setting page_bytes."
        )
    if not body.strip():
        return None
    kind = kind_of(body, "", "")
    if not kind.reader:
        raise SettingsError(f"Standard input cannot be read: {kind.media_type} is not supported.")
    return Material(f"stdin{mimetypes.guess_extension(kind.media_type) or '.txt'}", body)


def _readable() -> int | None:
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
    body = b""
    while len(body) <= most:
        silence = end - time.monotonic()
        if not asked_for:
            silence = min(silence, SILENCE_SECONDS if body else FIRST_BYTE_SECONDS)
        # On Windows, `select` supports only sockets, so the read blocks.
        if os.name != "nt" and not select.select([descriptor], [], [], max(0.0, silence))[0]:
            tell(
                f"Standard input did not end in time. Using the {len(body)} bytes that arrived."
                if body
                else "Nothing arrived on standard input. To wait for input, use --attach -."
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
    """Create a session for a question and attachments, without starting it. Piped input is attached
    too. The path `-` in `attach` means to wait for it.

    The session follows up on the session with the id `follows` or, if `last`, on the newest
    finished session. Raises SettingsError for invalid input, and SessionNotFound or
    SessionUnreadable if that session cannot be read.
    """
    for name in sorted({"clarify", "approve"} & settings.given):
        if getattr(settings, name) and not can_ask():
            raise SettingsError(f"--{name} needs a terminal: without one, nobody can answer.")
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
    """Return the id of the session being followed up on, or "". Raises SettingsError."""
    if last and follows:
        raise SettingsError("--continue and --follow cannot be used together. Choose one of them.")
    return last_finished(home) if last else follows


def searching_as(settings: Settings, follows: str) -> Settings:
    """Fill in `search` and `library`, if unset, from the session `follows`. Servers must not call
    this. Raises SessionNotFound or SessionUnreadable.
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
    """Return the id of the newest session with a report. Raises SettingsError if there is none."""
    ended = (session for session in readable_sessions(home) if session.status)
    found = next((session.id for session in ended if session.kind == "research"), None)
    if found is None:
        raise SettingsError("There is no finished session to follow up on. Ask a question first.")
    return found


def _keep(session: Session, piped: Material) -> None:
    # Store the input in the session's folder, so that it is available on resuming and is deleted
    # with the session.
    file = session.folder / "material" / piped.name
    try:
        write_atomically(file, piped.body)
    except OSError as error:
        raise SettingsError(
            f"Piped input cannot be stored in {file.parent}: {error.strerror}. Choose another"
            " folder with --home."
        ) from None
    session.attach([file])


MARK = "› "


class LeftError(Exception):
    """The user pressed Ctrl-C or Ctrl-D at a prompt."""


class Prompt:
    """Reads lines from the terminal, with history and Tab completion."""

    def __init__(
        self,
        history: Path | None = None,
        completer: Completer | None = None,
        *,
        keep_on_interrupt: bool = False,
    ) -> None:
        keys = KeyBindings()
        if keep_on_interrupt:
            keys.add("c-c")(lambda event: event.current_buffer.reset())
        self._session: PromptSession[str] = PromptSession(
            history=_history(history),
            completer=completer,
            complete_while_typing=False,
            reserve_space_for_menu=4,
            key_bindings=keys,
            interrupt_exception=LeftError,
            eof_exception=LeftError,
            input=create_input(always_prefer_tty=True),
            output=create_output(stdout=sys.stderr if sys.stderr.isatty() else sys.stdout),
        )

    async def line(self) -> str:
        """Read a line. Raises LeftError."""
        return await self._session.prompt_async(MARK)


def _history(file: Path | None) -> History:
    if file is None:
        return InMemoryHistory()
    try:
        private_file(file)
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be written: {error.strerror}. Choose another folder with --home."
        ) from None
    return FileHistory(str(file))


class Commands(Completer):
    """Completes commands, files and session ids in the chat when Tab is pressed."""

    def __init__(self, sessions: Callable[[], list[str]]) -> None:
        self._sessions = sessions
        self._files = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield completions for the text before the cursor."""
        text = document.text_before_cursor
        name, space, rest = text.partition(" ")
        if not text.startswith("/"):
            return
        if not space:
            yield from (
                _command(known, text) for known in COMMANDS if f"/{known}".startswith(text.lower())
            )
        elif name == "/export":
            yield from self._files.get_completions(Document(rest), complete_event)
        elif name == "/resume":
            yield from (
                Completion(id_, -len(rest)) for id_ in self._sessions() if id_.startswith(rest)
            )


def _command(name: str, typed: str) -> Completion:
    takes, what = COMMANDS[name]
    return Completion(
        f"/{name}{' ' if takes else ''}",
        -len(typed),
        display=f"/{name} {takes}".strip(),
        display_meta=what,
    )


#: The command that leaves the run instead of answering.
LEAVE = "/quit"


class Questions:
    """Asks the run's questions in the terminal."""

    def __init__(self) -> None:
        self._prompt = Prompt()
        stream = sys.stderr if sys.stderr.isatty() else sys.stdout
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)

    async def answer(self, asked: Asked) -> str | None:
        """Return the user's answer, or None if they leave the run."""
        try:
            return await (self._clarify(asked) if asked.kind == "clarify" else self._approve(asked))
        except LeftError:
            return None

    async def _clarify(self, asked: Asked) -> str | None:
        how = "a number or your own words" if asked.options else "your answer"
        self._show(
            one_line(asked.text, 1_000),
            asked.options,
            f"Type {how}, or press Enter to continue without an answer.",
        )
        while True:
            line = await self._prompt.line()
            if line.strip() == LEAVE:
                return None
            if (said := choice(asked.options, line)) is not None:
                return said
            self._say(
                f"There are {len(asked.options)} answers to choose from: type a number from 1 to"
                f" {len(asked.options)}, or your own words."
            )

    async def _approve(self, asked: Asked) -> str | None:
        if asked.plan is None:
            return ""
        reply = Reply(asked.plan, "" if asked.text == APPROVE else asked.text)
        if reply.reason:
            self._say(reply.reason)
            reply = Reply(asked.plan)
        shown: Plan | None = None
        while not reply.done:
            if reply.wish:
                return answer(asked.plan, reply.plan, reply.wish)
            if reply.reason:
                self._say(reply.reason)
            if not reply.reason or reply.plan != shown:
                shown = reply.plan
                recent = " (pages of the last year)" if shown.freshness == "recent" else ""
                self._show(f"Plan{recent}:", names(shown), how_to_answer())
            line = await self._prompt.line()
            if line.strip() == LEAVE:
                return None
            reply = read_reply(reply.plan, line)
        return answer(asked.plan, reply.plan)

    def _show(self, head: str, lines: Sequence[str], how: str) -> None:
        numbered = [Text(f"  {n}. {one_line(line)}") for n, line in enumerate(lines, 1)]
        for line in (Text(head, "bold"), *numbered, Text(how, "dim")):
            self._console.print(line, width=min(WIDEST, self._console.width))

    def _say(self, text: str) -> None:
        self._console.print(Text(text, "dim"))
