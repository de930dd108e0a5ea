"""What typed answers mean: the choice of an option, and changes of a plan. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spadework.agents.edited import MOST_TOPICS, YES
from spadework.tools.inline import one_line

HOW = "Enter accepts · drop 2 · add NAME · rename 1 NAME · e: edit all · /stop: leave"
_DROP = re.compile(r"(?:drop|remove|delete)\s+([\d\s,]+)", re.IGNORECASE)
_ADD = re.compile(r"add\s+(.+)", re.IGNORECASE)
_RENAME = re.compile(r"rename\s+(\d+)\s+(?:to\s+)?(.+)", re.IGNORECASE)


class Change(NamedTuple):
    """The topics after a line. `said` tells why nothing changed; `done`: the plan is accepted;
    `edit`: the user wants the whole list.
    """

    topics: tuple[str, ...]
    said: str = ""
    done: bool = False
    edit: bool = False


def choice(options: Sequence[str], line: str) -> str | None:
    """The option of a number, else the words; None for a number that no option has."""
    said = one_line(line, 2_000)
    if not options or not said.rstrip(".").isdecimal():
        return said
    n = int(said.rstrip("."))
    return options[n - 1] if 1 <= n <= len(options) else None


def changed(topics: Sequence[str], line: str) -> Change:
    """What a line makes of the topics."""
    topics, line = tuple(topics), one_line(line)
    if line.strip(" .!").lower() in YES:
        return Change(topics, done=True)
    if line.lower() in ("e", "edit"):
        return Change(topics, edit=True)
    if match := _DROP.fullmatch(line):
        return _dropped(topics, [int(n) for n in re.findall(r"\d+", match[1])])
    if match := _ADD.fullmatch(line):
        return _checked(topics, (*topics, match[1]))
    if match := _RENAME.fullmatch(line):
        n = int(match[1])
        if not 1 <= n <= len(topics):
            return Change(topics, _no_such(n, topics))
        return _checked(topics, (*topics[: n - 1], match[2], *topics[n:]))
    return Change(
        topics, f"“{line[:60]}” changes nothing: type Enter, drop N, add NAME, rename N NAME, or e."
    )


def listed(topics: Sequence[str], text: str) -> Change:
    """The topics as they stand in an edited list, one a line."""
    return _checked(
        tuple(topics), tuple(name for line in text.splitlines() if (name := one_line(line)))
    )


def answer(plan: Sequence[str], wanted: Sequence[str]) -> str:
    """What the engine is told: nothing where the plan stays as it was, else the topics, one a line,
    each with a bullet.
    """
    # The bullet keeps a topic named "Go" from being taken for a yes.
    return "" if list(plan) == list(wanted) else "\n".join(f"- {name}" for name in wanted)


def _dropped(topics: tuple[str, ...], numbers: list[int]) -> Change:
    if wrong := [n for n in numbers if not 1 <= n <= len(topics)]:
        return Change(topics, _no_such(wrong[0], topics))
    return _checked(topics, tuple(name for n, name in enumerate(topics, 1) if n not in numbers))


def _checked(before: tuple[str, ...], after: tuple[str, ...]) -> Change:
    if not after:
        return Change(before, "A plan needs at least one topic.")
    if len(after) > MOST_TOPICS:
        return Change(before, f"A plan has at most {MOST_TOPICS} topics.")
    names = [name.casefold() for name in after]
    if twice := next((name for name in after if names.count(name.casefold()) > 1), ""):
        return Change(before, f"“{twice[:60]}” would stand in the plan twice.")
    return Change(after)


def _no_such(n: int, topics: Sequence[str]) -> str:
    return f"There is no topic {n}: the plan has {len(topics)}."
