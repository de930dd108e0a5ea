"""Statistics as plots: where each bar and line stands, in units of the drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spadework.apps.saying import number_of
from spadework.apps.statistics import percent, worth_name
from spadework.sessions.session_figures import PHASES, Figures, Gain, Worth
from spadework.sessions.stats import Statistics
from spadework.sessions.trends import Trend

#: Widths of a drawing, of the words at its left, of the numbers at its right; height of a row.
WIDTH, LEFT, RIGHT, ROW = 640, 190, 90, 26
#: Sessions and rounds that are drawn, the newest first; sessions that stand in the table.
MOST_ROWS, MOST_LISTED = 20, 200
#: The size of a small drawing over time, and the room around its line.
SMALL, HIGH, EDGE = 300, 90, 6
#: The sizes as the template names them.
SIZES = {"width": WIDTH, "left": LEFT, "right": RIGHT, "row": ROW}
SIZES |= {"small": SMALL, "high": HIGH, "edge": EDGE}


@dataclass(frozen=True)
class Bar:
    """A row: where its bar ends, and its stronger part; `span` is where it was foreseen."""

    label: str
    end: float
    part: float
    said: str
    span: tuple[float, float] | None = None


@dataclass(frozen=True)
class Step:
    """One row of before and after, each a place on the scale from 0 to 1."""

    label: str
    before: float
    after: float
    said: str


@dataclass(frozen=True)
class Line:
    """One figure over time: its points with their words, what it is now, over all, since when."""

    title: str
    note: str
    points: tuple[tuple[float, float, str], ...]
    newest: str
    whole: str
    since: tuple[str, str]

    @property
    def path(self) -> str:
        """The points as SVG has them."""
        return " ".join(f"{x},{y}" for x, y, _ in self.points)


@dataclass(frozen=True)
class Stack:
    """One row of several stretches, each from where to where, with its name and its seconds."""

    label: str
    parts: tuple[tuple[str, float, float, str], ...]
    said: str


@dataclass(frozen=True)
class Plots:
    """All plots of the page."""

    lines: tuple[Line, ...]
    phases: tuple[Stack, ...]
    worth: tuple[Bar, ...]
    gains: tuple[Step, ...]
    seconds: tuple[Bar, ...]
    tokens: tuple[Bar, ...]
    money: tuple[Bar, ...]


def plots(found: Statistics) -> Plots:
    """The plots of some statistics."""
    sessions = found.sessions[:MOST_ROWS]
    paid = [figure for figure in sessions if figure.money]
    return Plots(
        lines=_lines(found),
        phases=_stacks(found.trends[-MOST_ROWS:]),
        worth=_worth(found.worth),
        gains=tuple(_step(gain) for gain in found.gains(MOST_ROWS))[:MOST_ROWS],
        seconds=_times(sessions),
        tokens=_bars([(f, float(f.tokens), f"{f.tokens:,}") for f in sessions if f.tokens]),
        money=_bars([(f, f.money or 0.0, f"${f.money:.3f}") for f in paid]),
    )


_Figure = Callable[[Trend], float | None]
_FIGURES: tuple[tuple[str, str, _Figure, Callable[[float | None], str]], ...] = (
    ("Time", "Mean seconds of a session.", lambda t: t.seconds, lambda v: f"{v or 0:.1f} s"),
    ("Answered", "Topics that are answered.", lambda t: t.completeness, percent),
    (
        "Answers for tokens",
        "Answered topics per 1,000 tokens, with a model.",
        lambda t: t.per_thousand,
        lambda v: "-" if v is None else f"{v:.2f}",
    ),
    ("Sources", "Pages that could be read.", lambda t: t.source_success, percent),
    (
        "Recovery",
        "Completed, of the sessions in which something failed.",
        lambda t: t.recovery,
        percent,
    ),
    ("Known", "Searches and pages that were known before.", lambda t: t.cached, percent),
    ("Forecast", "Sessions that took as long as was foreseen.", lambda t: t.foreseen, percent),
    ("To look at", "Sessions with an alert.", lambda t: t.alerted / t.sessions, percent),
)


def _lines(found: Statistics) -> tuple[Line, ...]:
    """The figures over time; those that nothing is known of are left out."""
    if found.all_of_it is None:
        return ()
    made = []
    for title, note, figure, told in _FIGURES:
        known = [(t.since, value) for t in found.trends if (value := figure(t)) is not None]
        if known:
            most = 1.0 if told is percent else max(value for _, value in known) or 1.0
            points, since = tuple(_points(known, most, told)), (known[0][0], known[-1][0])
            whole = told(figure(found.all_of_it))
            made.append(Line(title, note, points, told(known[-1][1]), whole, since))
    return tuple(made)


def _points(
    known: Sequence[tuple[str, float]], most: float, told: Callable[[float | None], str]
) -> Iterable[tuple[float, float, str]]:
    step = (SMALL - 2 * EDGE) / max(1, len(known) - 1)
    for n, (since, value) in enumerate(known):
        x = EDGE + n * step
        y = HIGH - EDGE - (HIGH - 2 * EDGE) * min(1.0, value / most)
        yield round(x, 1), round(y, 1), f"{since}: {told(value)}"


def _stacks(trends: Sequence[Trend]) -> tuple[Stack, ...]:
    """Where the time of the sessions of each stretch went."""
    timed = [trend for trend in trends if trend.phases]
    most = max((sum(trend.phases.values()) for trend in timed), default=0.0) or 1.0
    made = []
    for trend in reversed(timed):
        parts, at = [], 0.0
        for name in PHASES:
            spent = trend.phases[name]
            parts.append((name, _x(at / most), _x((at + spent) / most), f"{spent:.1f} s"))
            at += spent
        said = ", ".join(f"{name} {told}" for name, _, _, told in parts)
        made.append(Stack(trend.since, tuple(parts), said))
    return tuple(made)


def _worth(found: Sequence[Worth]) -> tuple[Bar, ...]:
    most = max((worth.evidence for worth in found), default=0) or 1
    return tuple(
        Bar(worth_name(w), _x(w.evidence / most), _x(w.cited / most), f"{w.cited} of {w.evidence}")
        for w in found
    )


def _times(sessions: Sequence[Figures]) -> tuple[Bar, ...]:
    """How long sessions took, with what was foreseen by earlier ones."""
    learned = {f.session_id: f.foreseen for f in sessions if f.foreseen and f.foreseen[3]}
    ends = [end for low, _, high, _ in learned.values() for end in (low, high)]
    most = max([*(f.seconds for f in sessions), *ends], default=0.0) or 1.0
    made = []
    for f in sessions:
        low, _, high, _ = learned.get(f.session_id, (0, 0, 0, 0))
        span = (_x(low / most), _x(high / most)) if high else None
        made.append(_bar(f, f.seconds / most, f"{f.seconds:.1f} s", span))
    return tuple(made)


def _bars(rows: Sequence[tuple[Figures, float, str]]) -> tuple[Bar, ...]:
    most = max((value for _, value, _ in rows), default=0.0) or 1.0
    return tuple(_bar(f, value / most, said) for f, value, said in rows)


def _bar(f: Figures, share: float, said: str, span: tuple[float, float] | None = None) -> Bar:
    question = f.question if len(f.question) <= 24 else f.question[:23].rstrip() + "…"
    return Bar(question, _x(share), LEFT, said, span)


def _step(gain: Gain) -> Step:
    label = "What was known" if gain.round == 0 else f"Round {gain.round}"
    quotes = f"{number_of(gain.evidence, 'quote')}, {gain.cited} told"
    said = f"{gain.before:.2f} → {gain.after:.2f}, {quotes if gain.evidence else 'nothing new'}"
    return Step(f"{label} · {gain.session_id[-6:]}", _x(gain.before), _x(gain.after), said)


def _x(share: float) -> float:
    """The place of a share 0..1 between the words at the left and the numbers at the right."""
    return round(LEFT + min(1.0, max(0.0, share)) * (WIDTH - LEFT - RIGHT), 1)
