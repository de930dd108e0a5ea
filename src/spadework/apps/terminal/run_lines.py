"""The picture of a run as lines for a terminal: pure functions from values to text that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from spadework.apps.saying import number_of
from spadework.apps.terminal.board import Board, SourceLine, State, TopicLine
from spadework.budget import Limits
from spadework.tools.text.markdown_marks import one_line
from spadework.tools.web.urls import host_of, hosts_for_urls
from spadework.values import STATE_WORDS, Usage

#: Sources shown at once.
MOST_SOURCES = 6
#: Columns of the state of a topic, and the least that its name must have beside it.
STATE_COLUMNS = 29
LEAST_NAME = 12

#: The mark and colour of a state. The words say the same: no colour is needed to read them.
MARKS: dict[State, tuple[str, str]] = {
    "waiting": ("·", "dim"),
    "searching": ("…", "cyan"),
    "reading": ("…", "cyan"),
    "answered": ("✓", "green"),
    "partly": ("~", "magenta"),
    "open": ("✗", "red"),
}


class Meter(NamedTuple):
    """What a run has used so far, in seconds and by its limit, and what it may use."""

    seconds: float
    limits: Limits
    used: Usage


def picture(board: Board, meter: Meter, width: int, height: int, status: str = "") -> list[Text]:
    """The whole picture in at most `height` lines of at most `width` columns; `status` says what is
    being done before the plan.
    """
    room = max(1, height - 2)
    head = [_head(board, status)] if height > 2 else []
    topics = [topic_line(topic, width) for topic in board.topics.values()]
    if len(topics) > room:
        topics = [*topics[: room - 1], Text(f"    and {len(topics) - room + 1} more topics", "dim")]
    free = min(MOST_SOURCES, room - len(topics))
    newest = list(board.sources.values())[-free:] if free > 0 else []
    lines = [
        *head,
        *topics,
        *(source_line(source, width) for source in newest),
        meter_line(board, meter),
    ]
    return [fit_line(line, width) for line in lines[-max(1, height) :]]


def topic_line(topic: TopicLine, width: int) -> Text:
    """A topic as `✓ answered (4 quotes)  Name`."""
    mark, style = MARKS[topic.state]
    columns = STATE_COLUMNS if width >= STATE_COLUMNS + LEAST_NAME else 0
    return Text.assemble(
        " ", (f"{mark} {state_words(topic):<{columns}} ", style), one_line(topic.name)
    )


def state_words(topic: TopicLine) -> str:
    """The state of a topic in words, with its number."""
    if topic.state == "reading":
        return f"reading {topic.running}" if topic.running else f"read {topic.read}"
    if topic.state in ("answered", "partly"):
        quotes = number_of(topic.quotes, "quote")
        return f"{STATE_WORDS[topic.state]} ({quotes})"
    return topic.state


def source_line(source: SourceLine, width: int) -> Text:
    """A source as `✓ Title (host)` or `✗ Title: the reason`."""
    mark = "✗" if source.reason else "✓" if source.done else "…"
    name = Text(one_line(source.title) or one_line(source.url))
    host = host_of(source.url) if "://" in source.url else ""
    behind = (
        f": {one_line(hosts_for_urls(source.reason))}"
        if source.reason
        else f" ({one_line(host)})"
        if host
        else ""
    )
    # What stands behind a long title is seen all the same; a reason may take half of the line.
    room = width - 5 - min(cell_len(behind), width // 2)
    name.truncate(max(1, room), overflow="ellipsis")
    return Text.assemble(f"   {mark} ", name, behind, style="dim")


def meter_line(board: Board, meter: Meter) -> Text:
    """Time of the total, rounds, pages, quotes; tokens and money where a model works."""
    used = meter.used
    parts = [f"{clock(meter.seconds)} of {clock(meter.limits.minutes * 60)}"]
    if board.round:
        parts.append(f"round {min(board.round, meter.limits.iterations)}/{meter.limits.iterations}")
    parts += [number_of(board.pages, "page"), number_of(board.quotes, "quote")]
    if board.mode == "model":
        parts.append(f"{format_count(used.tokens_in + used.tokens_out)} tokens")
        parts.append("price unknown" if used.money is None else f"${used.money:.3f}")
    return Text(" " + " · ".join(parts), "dim")


def format_count(n: int) -> str:
    """A number as 950, 12k or 1.2M."""
    if n < 10_000:
        return str(n)
    return f"{n // 1_000}k" if n < 1_000_000 else f"{n / 1_000_000:.1f}M"


def clock(seconds: float) -> str:
    """Seconds as 1:05 or 1:00:05."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def fit_line(line: Text, width: int) -> Text:
    """A line cut to `width` columns, wide characters counted as two."""
    line = line.copy()
    line.truncate(max(1, width), overflow="ellipsis")
    return line


def _head(board: Board, status: str) -> Text:
    if status and not board.topics:
        return Text(f" {one_line(status)}", "dim")
    if not board.mode:
        return Text(" Starting", "dim")
    how = "with a language model" if board.mode == "model" else "without a language model"
    what = "Resuming" if board.resumed else "Researching" if board.topics else "Planning"
    return Text(f" {what} {how}; searching {_join_names(board.searching)}", "dim")


def _join_names(names: Sequence[str]) -> str:
    return one_line("; ".join(names)) or "nothing"
