"""Statistics as plots: where each bar and line stands, in units of the drawing. The template draws
them; a table says the same in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spadework.sessions.stats import Figures, Gain, Statistics, Worth

#: Widths of a drawing, of the words at its left and of the numbers at its right; the height of a
#: row.
WIDTH, LEFT, RIGHT, ROW = 640, 190, 90, 26
#: Sessions and rounds that are drawn, the newest first.
MOST_ROWS = 20


@dataclass(frozen=True)
class Bar:
    """One row: its words, where its bar ends, where the stronger part of it ends, and what stands
    behind it.
    """

    label: str
    end: float
    part: float
    said: str
    href: str = ""


@dataclass(frozen=True)
class Step:
    """One row of before and after, each a place on the scale from 0 to 1."""

    label: str
    before: float
    after: float
    said: str
    href: str = ""


@dataclass(frozen=True)
class Plots:
    """All plots of the page."""

    providers: tuple[Bar, ...]
    kinds: tuple[Bar, ...]
    gains: tuple[Step, ...]
    seconds: tuple[Bar, ...]
    tokens: tuple[Bar, ...]
    money: tuple[Bar, ...]


def plots(found: Statistics) -> Plots:
    """The plots of some statistics."""
    sessions = found.sessions[:MOST_ROWS]
    newest = {figure.session_id for figure in sessions}
    paid = [figure for figure in sessions if figure.money]
    return Plots(
        providers=_worth(found.providers),
        kinds=_worth(found.kinds),
        gains=tuple(_step(gain) for gain in found.gains if gain.session_id in newest)[:MOST_ROWS],
        seconds=_bars([(f, f.seconds, f"{f.seconds:.1f} s") for f in sessions]),
        tokens=_bars([(f, float(f.tokens), f"{f.tokens:,}") for f in sessions if f.tokens]),
        money=_bars([(f, f.money or 0.0, f"${f.money:.3f}") for f in paid]),
    )


def _worth(found: Sequence[Worth]) -> tuple[Bar, ...]:
    most = max((worth.evidence for worth in found), default=0) or 1
    return tuple(
        Bar(
            worth.name,
            _x(worth.evidence / most),
            _x(worth.alone / most),
            f"{worth.evidence} ({worth.alone})",
        )
        for worth in found
    )


def _bars(rows: Sequence[tuple[Figures, float, str]]) -> tuple[Bar, ...]:
    most = max((value for _, value, _ in rows), default=0.0) or 1.0
    return tuple(
        Bar(_short(f.question), _x(value / most), LEFT, said, f"/s/{f.session_id}")
        for f, value, said in rows
    )


def _step(gain: Gain) -> Step:
    label = "What was known" if gain.round == 0 else f"Round {gain.round}"
    said = f"{gain.before:.2f} → {gain.after:.2f}, {gain.evidence} quotes"
    return Step(
        f"{label} · {gain.session_id[-6:]}",
        _x(gain.before),
        _x(gain.after),
        said,
        f"/s/{gain.session_id}",
    )


def _x(share: float) -> float:
    """The place of a share 0..1 between the words at the left and the numbers at the right."""
    return round(LEFT + min(1.0, max(0.0, share)) * (WIDTH - LEFT - RIGHT), 1)


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:23].rstrip() + "…"
