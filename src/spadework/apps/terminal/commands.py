"""What a line typed in the chat means: a command, a question, or neither. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spadework.tools.text.markdown_marks import one_line

#: Every command: what it takes and what it does.
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
#: `/etc/hosts` is no command, `/plan` is one.
_COMMAND = re.compile(r"/([A-Za-z]*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Ask:
    """A question."""

    question: str


@dataclass(frozen=True)
class Command:
    """A command by its name, with what follows it."""

    name: str
    argument: str = ""


@dataclass(frozen=True)
class Wrong:
    """A line that cannot be followed, and why."""

    said: str


Line = Ask | Command | Wrong | None


def parse(line: str) -> Line:
    """What a line means; None for an empty one."""
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
    """The number of a source, from 1 to `count`; `[3]` is as good as `3`."""
    digits = argument.strip("[] .")
    if not digits.isdecimal():
        return Wrong(f"“{one_line(argument, 40)}” is no number of a source: /sources lists them.")
    n = int(digits) if len(digits) < 10 else 0
    if not count:
        return Wrong("The report has no sources.")
    if not 1 <= n <= count:
        return Wrong(f"There is no source {one_line(digits, 20)}: the report has {count}.")
    return n
