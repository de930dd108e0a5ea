"""Format session statistics for the terminal."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from spadework.apps.messages import say, say_aside
from spadework.sessions.metrics.session_figures import Figures
from spadework.sessions.metrics.statistics import Statistics, statistics

SHOWN = 20


def print_statistics(home: Path, as_json: bool) -> None:
    """Print what the sessions under `home` found and cost."""
    with _without_collecting():
        found = statistics(home, say_aside)
    say(found.as_json() if as_json else "\n".join(lines(found)))


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Pause garbage collection, which would take a third of the command's time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def lines(found: Statistics) -> list[str]:
    """Format statistics as lines."""
    if not found.sessions:
        return ["There are no finished sessions yet.", *_to_look_at(found)]
    newest = f"; the newest {SHOWN}:" if len(found.sessions) > SHOWN else ""
    head = f"Sessions: {len(found.sessions)}{newest}"
    return [head, "", *_sessions(found.sessions[:SHOWN]), *_to_look_at(found)]


def _to_look_at(found: Statistics) -> list[str]:
    if not found.alerts:
        return []
    more = found.alerted > len({alert.partition(":")[0] for alert in found.alerts})
    named = f"Worth a look (newest of {found.alerted} such sessions):" if more else "Worth a look:"
    return ["", named, "", *(f"- {alert}" for alert in found.alerts)]


def _sessions(shown: Sequence[Figures]) -> list[str]:
    head = (
        "session|status|answered|quotes|in report|pages|seconds|estimated|tokens|US$|written by"
        "|judged by"
    )
    rows = [
        (
            *(f.session_id, f.status, f"{f.covered}/{f.topics}", f.evidence, f.cited, f.pages),
            *(f"{f.seconds:.1f}", foreseen(f), f.tokens),
            "unknown" if f.money is None else f"{f.money:.3f}",
            *(by(f.writers), by(f.judges)),
        )
        for f in shown
    ]
    return _table(head, rows)


def by(makers: Mapping[str, int]) -> str:
    """Format writers or judges, each with its number of sentences, highest first."""
    most = sorted(makers.items(), key=lambda maker: -maker[1])
    return ", ".join(f"{name} ({count})" for name, count in most) or "-"


def foreseen(f: Figures) -> str:
    """Format an estimated run time, or "-" if unknown. Parentheses mark rough estimates."""
    if not f.foreseen:
        return "-"
    low, _, high, runs = f.foreseen
    told = f"{low:.1f}-{high:.1f}" if high < SHOWN else f"{low:.0f}-{high:.0f}"
    return told if runs else f"({told})"


def _table(head: str, rows: Sequence[Sequence[object]]) -> list[str]:
    every = [head.split("|"), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    made = []
    for first, *others in every:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        made.append("  ".join([first.ljust(widths[0]), *cells]))
    return made
