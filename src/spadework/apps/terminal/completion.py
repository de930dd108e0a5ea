"""What Tab completes in the chat: commands, the file of an export, the id of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from spadework.apps.terminal.commands import COMMANDS


class Commands(Completer):
    """Completes commands and what follows them. `sessions` gives the ids that can be resumed."""

    def __init__(self, sessions: Callable[[], list[str]]) -> None:
        self._sessions = sessions
        self._files = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The completions of what stands before the cursor."""
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
