"""Parse chat input and render the output of chat commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from spadework.agents.plan_edits import FORMS, WISH, YES, change_plan
from spadework.apps.messages import number_of
from spadework.apps.terminal.live_view import MARKS, state_words
from spadework.apps.terminal.screen import stored_file
from spadework.settings import Settings
from spadework.tools.text.language import ENGLISH
from spadework.values import Evidence, Plan, Result, Source
from spadework.visible import one_line

COMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("", "show the topics of the last answer, and how fully each was answered"),
    "sources": ("", "list the sources of the last answer, numbered as in the report"),
    "quote": ("N", "show the quotes from source N, and where its page is stored"),
    "conflicts": ("", "show where the sources disagree"),
    "export": ("FILE", "write the report to FILE.md, .html, .pdf, .docx or .json; .bib: sources"),
    "resume": ("[ID]", "resume the run you left, or the session ID"),
    "new": ("", "forget earlier questions: the next one starts afresh"),
    "help": ("", "show this list"),
    "quit": ("", "leave (also Ctrl-D); during a run, Ctrl-C writes the report now"),
}
#: Matches commands such as `/plan`, but not paths such as `/etc/hosts`.
_COMMAND = re.compile(r"/([A-Za-z]*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True)
class Ask:
    """A typed question."""

    question: str


@dataclass(frozen=True)
class Command:
    """A typed command and its argument."""

    name: str
    argument: str = ""


@dataclass(frozen=True)
class Wrong:
    """The reason why a line is invalid."""

    said: str


Line = Ask | Command | Wrong | None


def parse(line: str) -> Line:
    """Parse a line, or return None if it is blank."""
    line = line.strip()
    if not line:
        return None
    if not (match := _COMMAND.fullmatch(line)):
        return Ask(line)
    name, argument = match[1].lower(), (match[2] or "").strip()
    if name not in COMMANDS:
        return Wrong(f"There is no command /{one_line(match[1], 40)}. Type /help for a list.")
    takes, _ = COMMANDS[name]
    if takes and not takes.startswith("[") and not argument:
        return Wrong(
            f"/{name} needs {takes}, as in /{name} {'report.md' if takes == 'FILE' else '1'}."
        )
    if argument and not takes:
        return Wrong(f"/{name} takes no argument.")
    return Command(name, argument)


def source_number(argument: str, count: int) -> int | Wrong:
    """Parse a source number from 1 to `count`, such as `3` or `[3]`. Return Wrong if invalid."""
    digits = argument.strip("[] .")
    if not digits.isdecimal():
        return Wrong(
            f"“{one_line(argument, 40)}” is not a source number. Type /sources for a list."
        )
    n = int(digits) if len(digits) < 10 else 0
    if not count:
        return Wrong("The report has no sources.")
    if not 1 <= n <= count:
        return Wrong(f"There is no source {one_line(digits, 20)}; the last is {count}.")
    return n


class Reply(NamedTuple):
    """The plan after the user's reply. `reason` says why nothing changed, `done` means that the
    plan is accepted, and `wish` is text for a model to interpret.
    """

    plan: Plan
    reason: str = ""
    done: bool = False
    wish: str = ""


def how_to_answer() -> str:
    """Return a line explaining how to reply to a plan."""
    forms = ", ".join(FORMS)
    return f"Enter: accept · or type a change: {forms} · Ctrl-C: leave"


def choice(options: Sequence[str], line: str) -> str | None:
    """Return the option whose number was typed (None if there is none), or else the typed text."""
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
    now, reason, understood = change_plan(plan, line)
    return Reply(now, reason, wish="" if understood else line)


def answer(plan: Plan, wanted: Plan, wish: str = "") -> str:
    """Return the user's answer to a plan: one bullet per wanted topic, or "" if the topics are
    unchanged. A `wish` is appended and makes the run show the plan again.
    """
    # The bullet keeps a topic named "Go" from being read as approval.
    topics = [f"- {topic.name}" for topic in wanted.topics] if names(plan) != names(wanted) else []
    return "\n".join([*topics, *([f"{WISH}{wish}"] if wish else [])])


def names(plan: Plan) -> list[str]:
    """Return the plan's topic names."""
    return [topic.name for topic in plan.topics]


def draw_header(settings: Settings, version: str) -> Text:
    """Return a two-line header with the program and its configuration."""
    model = settings.model_for("lead") or (
        "the model of your server" if settings.openai_base_url else "none, so answers are quotes"
    )
    first = (
        (f"spadework {version}", "bold"),
        ("  Ask a question. /help lists the commands; Ctrl-D quits.\n", ""),
    )
    second = (f"Model: {model}. Search: {settings.search}. Sessions: {settings.home}", "dim")
    return Text.assemble(*first, second, no_wrap=True, overflow="ellipsis")


def help_view() -> Text:
    """Return the help text for commands and keys."""
    rows = [
        f"  {f'/{name} {takes}'.strip():<14} {what}" for name, (takes, what) in COMMANDS.items()
    ]
    keys = "  Ctrl-C during a run: once to write the report now, twice to leave and resume later."
    return Text("\n".join([*rows, keys]))


def plan_view(result: Result) -> RenderableType:
    """Return the topics with their states and gaps."""
    table = Table.grid(padding=(0, 1))
    for topic in result.topics:
        mark, style = MARKS[topic.state]
        state = f"{mark} {state_words(topic.state, len(topic.evidence))}"
        gaps = [] if topic.covered else [Text(one_line(gap), "dim") for gap in topic.gaps]
        table.add_row(
            Text(f" {state}", style, no_wrap=True), Group(Text(one_line(topic.name)), *gaps)
        )
    return table


def sources_view(result: Result) -> RenderableType:
    """Return the numbered sources with host, date and number of quotes."""
    if not result.sources:
        return Text("The report has no sources.")
    table = Table.grid(padding=(0, 1))
    for source in result.sources:
        table.add_row(Text(f" [{source.n}]", no_wrap=True), _source(result, source))
    return table


def quotes_view(result: Result, n: int) -> RenderableType:
    """Return the quotes from source `n`, then its title, address and file."""
    source = result.sources[n - 1]
    found = evidence_of(result, source)
    parts: list[RenderableType] = []
    for evidence in found:
        parts.append(Text(f"{evidence.id}  {one_line(evidence.topic)}", "bold"))
        parts.append(Padding(Text(evidence.quote.strip("\n")), (0, 0, 0, 2)))
    if not found:
        parts.append(Text(f"Nothing is quoted from source {n}."))
    places = ", ".join(dict.fromkeys(f"{e.start}–{e.end}" for e in found))
    file = stored_file(result, source)
    parts.append(_link_text(f"[{n}] {one_line(source.title or source.url)}", source))
    parts.append(_whole(one_line(source.url, 2_000), source.url))
    parts.append(_whole(one_line(str(file), 2_000), file.as_uri()))
    if found:
        by = _found_by(result, source)
        parts.append(Text(f"at characters {places}{f', {by}' if by else ''}", "dim"))
    return Group(*parts)


def conflicts_view(result: Result) -> RenderableType:
    """Return the disagreements, with each side's claim and sources."""
    if not result.conflicts:
        return Text("No disagreement between the sources was found.")
    numbers = {e.id: s.n for s in result.sources for e in evidence_of(result, s)}
    lines = []
    for conflict in result.conflicts:
        kind, topic = ENGLISH(f"kind_{conflict.kind}"), one_line(conflict.topic)
        lines.append(Text(ENGLISH("disagree", topic=topic, kind=kind), "bold"))
        for side in conflict.sides:
            cited = "".join(
                f"[{n}]"
                for n in dict.fromkeys(numbers[i] for i in side.evidence_ids if i in numbers)
            )
            lines.append(Text(f"  - {one_line(side.claim, 1_000)} {cited}"))
    return Text("\n").join(lines)


def _found_by(result: Result, source: Source) -> str:
    asked = {query for topic in result.topics for query in topic.queries}
    asked |= {found.query for other in result.sources for found in other.found_by}
    by = {found.query for found in source.found_by}
    return f"found by {len(by)} of {len(asked)} queries" if by else ""


def evidence_of(result: Result, source: Source) -> list[Evidence]:
    """Return a source's distinct quotes, ordered by number."""
    found = {e.id: e for topic in result.topics for e in topic.evidence if e.url == source.url}
    return sorted(found.values(), key=lambda e: int(e.id[1:]))


def closing_line(result: Result) -> Text:
    """Return the line below a report: how the run ended, and what to type."""
    how = {"completed": "Done", "partial": "Stopped", "failed": "Failed"}.get(
        result.status, "Stopped at a limit"
    )
    more = " · /sources · /quote 1 · /plan · /export report.html" if result.sources else ""
    cited = sum(not source.unused for source in result.sources)
    return Text(f"{how}: {number_of(cited, 'source')}{more}", "dim")


def _source(result: Result, source: Source) -> Text:
    date = source.published_at.date().isoformat() if source.published_at else ""
    quotes = len(evidence_of(result, source))
    count = number_of(quotes, "quote") if quotes else ""
    kind = ENGLISH(f"kind_{source.kind}") if source.kind else ""
    told = (one_line(source.place), kind, date, count)
    return Text.assemble(
        _link_text(one_line(source.title or source.url), source),
        (f" ({', '.join(filter(None, told))})", "dim"),
    )


def _link_text(text: str, source: Source) -> Text:
    return Text(text, Style(link=source.url) if source.url.startswith("http") else "")


def _whole(address: str, link: str) -> Text:
    """Return an address that stays on one line, so that it can be copied."""
    return Text(
        address,
        Style(dim=True, link=None if link.startswith("library:") else link),
        no_wrap=True,
        overflow="ignore",
    )
