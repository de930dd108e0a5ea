"""Line input in a terminal: editing, history, completion."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import create_output

from spadework.apps.terminal.commands import COMMANDS
from spadework.errors import SettingsError
from spadework.tools.stores.private_files import private_file

MARK = "› "


class LeftError(Exception):
    """The user pressed Ctrl-C or Ctrl-D at a prompt."""


class Prompt:
    """Reads lines from the terminal, with `history` and Tab completion."""

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
        """Return a line. Raises LeftError."""
        return await self._session.prompt_async(MARK)

    async def lines(self, text: str) -> str:
        """Return `text` as edited by the user, until Ctrl-D. Raises LeftError."""
        keys = KeyBindings()
        keys.add("c-d")(lambda event: event.current_buffer.validate_and_handle())
        session: PromptSession[str] = PromptSession(
            input=self._session.input,
            output=self._session.output,
            key_bindings=keys,
            interrupt_exception=LeftError,
            multiline=True,
            prompt_continuation=MARK,
        )
        return await session.prompt_async(MARK, default=text)


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
    """Tab completion in the chat: commands, export files, and ids from `sessions`, which can be
    resumed.
    """

    def __init__(self, sessions: Callable[[], list[str]]) -> None:
        self._sessions = sessions
        self._files = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield completions of the text before the cursor."""
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
