"""Statistics over sessions, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spadework.apps.saying import say
from spadework.sessions.stats import Figures, Statistics, Worth, statistics

#: Sessions shown; all of them are in the JSON.
SHOWN = 20


def print_statistics(home: Path, as_json: bool) -> None:
    """Print what the sessions under `home` gave and cost, as tables or as one JSON object."""
    found = statistics(home)
    say(found.model_dump_json() if as_json else "\n".join(lines(found)))


def lines(found: Statistics) -> list[str]:
    """The statistics as lines of text."""
    if not found.sessions:
        return ["There are no finished sessions yet.", *_to_look_at(found)]
    shown = found.sessions[:SHOWN]
    head = [
        f"Sessions: {len(found.sessions)}"
        + (f", the newest {SHOWN} of them:" if len(found.sessions) > SHOWN else ""),
        "",
    ]
    parts = [
        head
        + _table(
            ["session", "status", "answered", "quotes", "pages", "seconds", "tokens", "US$"],
            [_session(f) for f in shown],
        ),
        ["", "What the providers brought:", "", *_worth(found.providers)],
        ["", "What the kinds of queries brought:", "", *_worth(found.kinds)],
        ["", "What the rounds added (mean coverage before and after):", "", *_gains(found)],
    ]
    return [line for part in (*parts, _to_look_at(found)) for line in part]


def _to_look_at(found: Statistics) -> list[str]:
    return ["", "To look at:", "", *(f"- {alert}" for alert in found.alerts)] * bool(found.alerts)


def _session(f: Figures) -> list[str]:
    money = "unknown" if f.money is None else f"{f.money:.3f}"
    answered = f"{f.covered}/{f.topics}"
    return [
        f.session_id,
        f.status,
        answered,
        str(f.evidence),
        str(f.pages),
        f"{f.seconds:.1f}",
        str(f.tokens),
        money,
    ]


def _worth(found: Sequence[Worth]) -> list[str]:
    rows = [
        [w.name, str(w.searches or "-"), str(w.hits or "-"), str(w.evidence), str(w.alone)]
        for w in found
    ]
    return _table(["", "searches", "hits", "quotes", "quotes only it found"], rows)


def _gains(found: Statistics) -> list[str]:
    newest = {f.session_id for f in found.sessions[:SHOWN]}
    rows = [
        [g.session_id, str(g.round), f"{g.before:.2f}", f"{g.after:.2f}", str(g.evidence)]
        for g in found.gains
        if g.session_id in newest
    ]
    return _table(["session", "round", "before", "after", "quotes added"], rows)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Columns of text, the first to the left, the others to the right."""
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    made = []
    for row in [head, *rows]:
        cells = [
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        made.append("  ".join(cells))
    return made
