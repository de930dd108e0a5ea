"""Interpretation of a command line: a command, a question, or a mistyped command."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile

from spadework.errors import SettingsError

DEFAULT = "ask"
#: Minimum similarity of a mistyped command: "reed" shares three of four letters with "read".
LIKE = 0.75
#: Other programs' names for our commands.
_ELSEWHERE = {
    "research": "ask",
    "help": "--help",
    "version": "--version",
    "config": "doctor",
    "web": "serve",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z_-]*")
#: Addresses, paths and session ids contain these; words of a question do not.
_NO_WORD = re.compile(r"\s|/|\w[.:]\w|\d{8}")
#: A session id as printed by a run.
_SESSION_ID = re.compile(r"\d{8}-\d{6}-[0-9a-z]+")
_SHOWN_CHARS = 60


def as_command(
    arguments: Sequence[str], commands: Mapping[str, Collection[str]], options: Collection[str]
) -> list[str]:
    """Return a command's arguments, prefixed with `ask` if they name none.

    `commands` maps each to its subcommands; `options` stand alone. A subcommand of `sessions`
    before a session's id needs no `sessions`. Raises SettingsError for a probable typo of a
    command, for a session's id alone, and for a single word, which needs an explicit `ask`.
    """
    if not arguments or arguments[0] in commands or arguments[0] in options:
        return [*arguments]
    own = commands.get("sessions", ())
    if arguments[0] in own and any(_SESSION_ID.fullmatch(word) for word in arguments[1:]):
        return ["sessions", *arguments]
    if _SESSION_ID.fullmatch(arguments[0]):
        raise SettingsError(
            f"{arguments[0]} is the id of a session, not a question.",
            hint=f"To see its report, write: spadework sessions show {arguments[0]}",
        )
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
    """Return the command that was probably meant, "" for a question: several bare words are one."""
    if not words or not _NAME.fullmatch(words[0]):
        return ""
    name, rest = words[0].lower(), words[1:]
    near = get_close_matches(name, commands, n=1, cutoff=LIKE)
    meant = _ELSEWHERE.get(name) or (near[0] if near else "")
    own = commands.get(meant, ())
    argued = any(_NO_WORD.search(word) for word in rest) or bool(rest and rest[0] in own)
    return meant if meant and (argued or not rest) else ""
