"""Interpretation of typed lines: commands, questions, answers, plan changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spadework.agents.plan_edits import FORMS, WISH, YES, change_plan, with_names
from spadework.tools.text.markdown import one_line
from spadework.values import Plan

COMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("", "the topics of the last answer, and how far each is proven"),
    "sources": ("", "the sources of the last answer, numbered as in the report"),
    "quote": ("N", "what was quoted from source N, and where its page is kept"),
    "conflicts": ("", "where the sources disagree"),
    "export": ("FILE", "write the report to FILE.md, .html, .pdf, .docx, .json, sources to .bib"),
    "stop": ("", "while a run goes on: write now with what there is"),
    "resume": ("[ID]", "take up the run that was left, or the session ID"),
    "new": ("", "forget what was asked before: the next question stands alone"),
    "help": ("", "this list"),
    "quit": ("", "leave (also Ctrl-D)"),
}
#: `/etc/hosts` is not a command, `/plan` is.
_COMMAND = re.compile(r"/([A-Za-z]*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Ask:
    """A question."""

    question: str


@dataclass(frozen=True)
class Command:
    """A command's name and argument."""

    name: str
    argument: str = ""


@dataclass(frozen=True)
class Wrong:
    """An invalid line, and why."""

    said: str


Line = Ask | Command | Wrong | None


def parse(line: str) -> Line:
    """Parse a line; None for an empty one."""
    line = line.strip()
    if not line:
        return None
    if not (match := _COMMAND.fullmatch(line)):
        return Ask(line)
    name, argument = match[1].lower(), (match[2] or "").strip()
    if name not in COMMANDS:
        return Wrong(f"There is no command /{one_line(match[1], 40)}: /help lists them.")
    takes, _ = COMMANDS[name]
    if takes and not takes.startswith("[") and not argument:
        return Wrong(
            f"/{name} needs {takes}, as in /{name} {'report.md' if takes == 'FILE' else '1'}."
        )
    if argument and not takes:
        return Wrong(f"/{name} takes nothing after it.")
    return Command(name, argument)


def source_number(argument: str, count: int) -> int | Wrong:
    """Parse a source number from 1 to `count`: `3` or `[3]`."""
    digits = argument.strip("[] .")
    if not digits.isdecimal():
        return Wrong(f"“{one_line(argument, 40)}” is no number of a source: /sources lists them.")
    n = int(digits) if len(digits) < 10 else 0
    if not count:
        return Wrong("The report has no sources.")
    if not 1 <= n <= count:
        return Wrong(f"There is no source {one_line(digits, 20)}: the report has {count}.")
    return n


class Reply(NamedTuple):
    """The plan after a typed line. `reason` says why it was not changed; `done`: accepted; `edit`:
    show the list; `wish`: text that only a model can interpret.
    """

    plan: Plan
    reason: str = ""
    done: bool = False
    edit: bool = False
    wish: str = ""


def how_to_answer() -> str:
    """Return the line that explains how to answer a plan."""
    forms = ", ".join(FORMS)
    return f"Enter accepts · or type a change: {forms} · e: edit the list · /stop: leave"


def choice(options: Sequence[str], line: str) -> str | None:
    """Return the numbered option, else the words; None for an unknown number."""
    said = one_line(line, 2_000)
    if not options or not said.rstrip(".").isdecimal():
        return said
    n = int(said.rstrip("."))
    return options[n - 1] if 1 <= n <= len(options) else None


def read_reply(plan: Plan, line: str) -> Reply:
    """Apply a typed line to a plan."""
    line = one_line(line, 2_000)
    if line.strip(" .!").lower() in YES:
        return Reply(plan, done=True)
    if line.lower() in ("e", "edit"):
        return Reply(plan, edit=True)
    now, reason, understood = change_plan(plan, line)
    return Reply(now, reason, wish="" if understood else line)


def replace_topics(plan: Plan, text: str) -> Reply:
    """Replace the plan's topics by an edited list, one per line."""
    now, reason, _ = with_names(
        plan, [one_line(line) for line in text.splitlines() if line.strip()]
    )
    return Reply(now, reason)


def answer(plan: Plan, wanted: Plan, wish: str = "") -> str:
    """Return the engine's answer: empty if the plan is unchanged, else the topics, one bullet per
    line. With a free-text `wish` the plan is shown again.
    """
    # The bullet keeps a topic named "Go" from being read as a yes.
    topics = [f"- {topic.name}" for topic in wanted.topics] if names(plan) != names(wanted) else []
    return "\n".join([*topics, *([f"{WISH}{wish}"] if wish else [])])


def names(plan: Plan) -> list[str]:
    """Return the plan's topic names."""
    return [topic.name for topic in plan.topics]
