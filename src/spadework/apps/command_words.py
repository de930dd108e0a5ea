"""What the words of a command line mean: a command, a question, or a command that was mistyped."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

from spadework.errors import SettingsError

#: The command of a question, which need not be written.
DEFAULT = "ask"
#: How much of a mistyped command is right: of "reed" and "read" three letters of four.
LIKE = 0.75
#: What other programs call what ours do.
_ELSEWHERE = {
    "research": "ask",
    "help": "--help",
    "version": "--version",
    "config": "doctor",
    "web": "serve",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: What an address, a path or an id of a session has, and no word of a question.
_NO_WORD = re.compile(r"\s|/|\w[.:]\w|\d{8}")
_SHOWN_CHARS = 60


def as_command(
    arguments: Sequence[str], commands: Mapping[str, Collection[str]], options: Collection[str]
) -> list[str]:
    """The arguments of a command: with `ask` before those that name none, as a question does.

    `commands` maps each to its subcommands; `options` stand alone. Raises SettingsError for what
    looks like a mistyped command, and for a single word: `ask` before it makes it a question.
    """
    if not arguments or arguments[0] in commands or arguments[0] in options:
        return [*arguments]
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    if meant := _find_mistyped(words, commands):
        asked = " ".join(words)[:_SHOWN_CHARS].replace('"', "")
        raise SettingsError(
            f"There is no command {words[0]!r}. Did you mean {meant}?",
            hint=f'To research it as a question, write: spadework {DEFAULT} "{asked}"',
        )
    if len(arguments) == 1 and _NAME.fullmatch(arguments[0]):
        word = arguments[0]
        raise SettingsError(
            f"There is no command {word!r}, and one word is no question.",
            hint=f'Ask in words, such as: spadework "What is {word}?"; or write: spadework'
            f" {DEFAULT} {word}",
        )
    return [DEFAULT, *arguments]


def _find_mistyped(words: Sequence[str], commands: Mapping[str, Collection[str]]) -> str:
    """The command that was probably meant, "" where a question was: several bare words are one."""
    if not words or not _NAME.fullmatch(words[0]):
        return ""
    name, rest = words[0].lower(), words[1:]
    near = get_close_matches(name, commands, n=1, cutoff=LIKE)
    meant = _ELSEWHERE.get(name) or (near[0] if near else "")
    own = commands.get(meant, ())
    argued = any(_NO_WORD.search(word) for word in rest) or bool(rest and rest[0] in own)
    return meant if meant and (argued or not rest) else ""
