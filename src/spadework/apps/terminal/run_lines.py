"""The picture of a run as lines for a terminal: pure functions from values to text that fits."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from spadework.apps.saying import number_of
from spadework.apps.view_model import Phase, SourceView, TopicView, ViewModel
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
MARKS: dict[Phase, tuple[str, str]] = {
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


def picture(view: ViewModel, meter: Meter, width: int, height: int, status: str = "") -> list[Text]:
    """The picture in `height` lines of `width` columns; `status` is said before the plan."""
    room = max(1, height - 2)
    head = [_head(view, status)] if height > 2 else []
    topics = [topic_line(topic, _state(view, topic), width) for topic in view.topics.values()]
    if len(topics) > room:
        topics = [*topics[: room - 1], Text(f"    and {len(topics) - room + 1} more topics", "dim")]
    free = min(MOST_SOURCES, room - len(topics))
    newest = list(view.sources.values())[-free:] if free > 0 else []
    lines = [
        *head,
        *topics,
        *(source_line(source, width) for source in newest),
        meter_line(view, meter),
    ]
    return [fit_line(line, width) for line in lines[-max(1, height) :]]


def _state(view: ViewModel, topic: TopicView) -> Phase:
    """The state of a topic: what is known from before is looked at first, then all is searched."""
    if topic.phase == "waiting":
        return "waiting" if view.asked or view.follows else "searching"
    return "searching" if not view.rounds and topic.phase in ("partly", "open") else topic.phase


def topic_line(topic: TopicView, state: Phase, width: int) -> Text:
    """A topic as `✓ answered (4 quotes)  Name`."""
    reading = f"reading {len(topic.open)}" if topic.open else f"read {topic.fresh}"
    words = reading if state == "reading" else state_words(state, topic.quotes)
    mark, style = MARKS[state]
    columns = STATE_COLUMNS if width >= STATE_COLUMNS + LEAST_NAME else 0
    return Text.assemble(" ", (f"{mark} {words:<{columns}} ", style), one_line(topic.topic.name))


def state_words(state: Phase, quotes: int) -> str:
    """A state in words, with the number of the quotes that prove as much."""
    if state == "answered" or state == "partly":
        return f"{STATE_WORDS[state]} ({number_of(quotes, 'quote')})"
    return state


def source_line(source: SourceView, width: int) -> Text:
    """A source as `✓ Title (host)` or `✗ Title: the reason`."""
    mark = "✗" if source.reason else "✓" if source.state == "read" else "…"
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


def meter_line(view: ViewModel, meter: Meter) -> Text:
    """Time of the total, rounds, pages, quotes; tokens and money where a model works."""
    used = meter.used
    parts = [f"{clock(meter.seconds)} of {clock(meter.limits.minutes * 60)}"]
    if view.searches or any(topic.coverage for topic in view.topics.values()):
        most = meter.limits.iterations
        parts.append(f"round {min(view.rounds + 1, most)}/{most}")
    parts += [number_of(view.read, "page"), number_of(view.quotes, "quote")]
    if view.mode == "model":
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


def _head(view: ViewModel, status: str) -> Text:
    if status and not view.topics:
        return Text(f" {one_line(status)}", "dim")
    if not view.mode:
        return Text(" Starting", "dim")
    how = "with a language model" if view.mode == "model" else "without a language model"
    names = one_line("; ".join(view.searching)) or "nothing"
    what = "Resuming" if view.resumed else "Researching" if view.topics else "Planning"
    return Text(f" {what} {how}; searching {names}", "dim")
