"""Asking the user for a line in a terminal: editing, history, completion."""

from __future__ import annotations

import sys
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import create_output

from spadework.errors import SettingsError
from spadework.tools.stores.private_files import private_file

MARK = "› "


class LeftError(Exception):
    """The user pressed Ctrl-C or Ctrl-D where a line was asked for."""


class Prompt:
    """Asks for lines on the terminal, keeps them in `history`, completes them with Tab."""

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
        """A line. Raises LeftError."""
        return await self._session.prompt_async(MARK)

    async def lines(self, text: str) -> str:
        """`text` as the user edited it, Ctrl-D being the end. Raises LeftError."""
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
