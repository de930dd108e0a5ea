"""Output of the chat's commands: pure functions from a result to terminal text."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from spadework.apps.messages import number_of
from spadework.apps.terminal.commands import COMMANDS
from spadework.apps.terminal.live_view import MARKS, state_words
from spadework.apps.terminal.report import stored_file
from spadework.settings import Settings
from spadework.tools.text.markdown import one_line
from spadework.values import Evidence, Result, Source


def draw_header(settings: Settings, version: str) -> Text:
    """Return two lines: the program and its configuration."""
    model = settings.model_for("lead") or (
        "the model of your server" if settings.openai_base_url else "none, so answers are quotes"
    )
    first = (
        (f"spadework {version}", "bold"),
        ("  Ask a question; /help lists the commands, Ctrl-D leaves.\n", ""),
    )
    second = (f"Model: {model}. Search: {settings.search}. Sessions: {settings.home}", "dim")
    return Text.assemble(*first, second, no_wrap=True, overflow="ellipsis")


def help_view() -> Text:
    """Return every command with its effect, and the keys."""
    rows = [
        f"  {f'/{name} {takes}'.strip():<14} {what}" for name, (takes, what) in COMMANDS.items()
    ]
    keys = (
        "  Ctrl-C while a run goes on: once writes with what there is, twice leaves it to be taken"
        " up."
    )
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
    """Return the numbered sources: title, host, date, and number of quotes."""
    if not result.sources:
        return Text("The report has no sources.")
    table = Table.grid(padding=(0, 1))
    for source in result.sources:
        table.add_row(Text(f" [{source.n}]", no_wrap=True), _source(result, source))
    return table


def quotes_view(result: Result, n: int) -> RenderableType:
    """Return the quotes of source `n` by topic, then its title, address and stored text."""
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
        parts.append(Text(f"at the characters {places}{f', {by}' if by else ''}", "dim"))
    return Group(*parts)


def conflicts_view(result: Result) -> RenderableType:
    """Return both sides of every conflict, with source numbers."""
    if not result.conflicts:
        return Text("The sources do not disagree, as far as can be told.")
    numbers = {e.id: s.n for s in result.sources for e in evidence_of(result, s)}
    lines = []
    for conflict in result.conflicts:
        lines.append(
            Text(f"“{one_line(conflict.topic)}”: the sources disagree ({conflict.kind}).", "bold")
        )
        for side in conflict.sides:
            cited = "".join(
                f"[{n}]"
                for n in dict.fromkeys(numbers[i] for i in side.evidence_ids if i in numbers)
            )
            lines.append(Text(f"  - {one_line(side.claim, 1_000)} {cited}"))
    return Text("\n").join(lines)


def _found_by(result: Result, source: Source) -> str:
    """Return how a source was found: "found by 3 of 5 queries"; "" without a query."""
    asked = {query for topic in result.topics for query in topic.queries}
    asked |= {found.query for other in result.sources for found in other.found_by}
    by = {found.query for found in source.found_by}
    return f"found by {len(by)} of {len(asked)} queries" if by else ""


def evidence_of(result: Result, source: Source) -> list[Evidence]:
    """Return the distinct quotes from a source, in ledger order."""
    found = {e.id: e for topic in result.topics for e in topic.evidence if e.url == source.url}
    return sorted(found.values(), key=lambda e: int(e.id[1:]))


def closing_line(result: Result) -> Text:
    """Return the line below a report: how it ended, and the available commands."""
    how = {"completed": "Done", "partial": "Stopped", "failed": "Failed"}.get(
        result.status, "A budget ended it"
    )
    more = " · /sources · /quote 1 · /plan · /export report.html" if result.sources else ""
    cited = sum(not source.unused for source in result.sources)
    return Text(f"{how}: {number_of(cited, 'source')}{more}", "dim")


def _source(result: Result, source: Source) -> Text:
    date = source.published_at.date().isoformat() if source.published_at else ""
    quotes = len(evidence_of(result, source))
    count = number_of(quotes, "quote") if quotes else ""
    told = (one_line(source.place), date, count)
    return Text.assemble(
        _link_text(one_line(source.title or source.url), source),
        (f" ({', '.join(filter(None, told))})", "dim"),
    )


def _link_text(text: str, source: Source) -> Text:
    return Text(text, Style(link=source.url) if source.url.startswith("http") else "")


def _whole(address: str, link: str) -> Text:
    """Return an unbroken address that can be copied; the terminal wraps it."""
    return Text(
        address,
        Style(dim=True, link=None if link.startswith("library:") else link),
        no_wrap=True,
        overflow="ignore",
    )
