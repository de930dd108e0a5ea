"""What a run will take by what earlier runs of its kind have taken, at the same model and on the
same machine: a median, and a range in which nine runs of ten end.

What counts is how an earlier run came out beside what constants had reckoned for it, as a ratio:
its logarithms are alike for short runs and long ones. From LEAST runs on they are taken for normal,
and the range is the prediction interval of Student; from ENOUGH on it lies between two of them,
whatever their shape, as in conformal prediction: the next run is as likely in any gap between
earlier ones as in any other, or in the first or last of them, which have no end: of so few runs
that the range ends there, it ends by the gap before, OUTWARD times as wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, pstdev, stdev
from typing import NamedTuple, cast

from spadework.values import Forecast, Span

#: Runs that say more than constants, of which two bound the range; and the newest that are asked.
LEAST, ENOUGH, MOST = 5, 10, 60
#: How much wider than the outermost gap between runs the one beyond them is taken to be. With 2, of
#: 10 to 16 runs of five shapes (normal, two humps, a long tail, rare slow ones, even) .87 to .91
#: end within the range; Student's holds .89 to .97, and is up to a third wider.
OUTWARD = 2.0
#: The share of runs that end within the range, and the quantile of the normal distribution for it.
SHARE, NORMAL = 0.90, 1.6449
#: What is foreseen of a run, and the least by which two runs differ that differ at all.
GRAINS: dict[str, float] = dict.fromkeys(("rounds", "searches", "pages", "calls", "tokens"), 1.0)
GRAINS |= {"seconds": 0.01, "money": 0.0001}


class Took(NamedTuple):
    """A finished run: its kind, what constants reckoned, what it took, by the names of GRAINS."""

    kind: str
    machine: str
    reckoned: Mapping[str, float]
    actual: Mapping[str, float]


def by_experience(
    reckoned: Forecast, earlier: Sequence[Took], limits: Mapping[str, float]
) -> Forecast:
    """The forecast that constants have made, with what `earlier` runs (newest first) know better.
    `limits` are the ceilings that end a run, by the names of GRAINS.
    """
    alike = [t for t in earlier if (t.kind, t.machine) == (reckoned.kind, reckoned.machine)][:MOST]
    if len(alike) < LEAST:
        return reckoned
    spans = {
        name: _bound_span(span, limits.get(name, math.inf))
        for name in GRAINS
        if (span := _learn_span(name, reckoned, alike)) is not None
    }
    return reckoned.model_copy(update={**spans, "runs": len(alike)})


def reckoning(forecast: Forecast) -> dict[str, float]:
    """The middle of what constants reckon, by the names of GRAINS: that of ratios."""
    spans = {name: cast("Span | None", getattr(forecast, name)) for name in GRAINS}
    return {
        name: math.sqrt(max(span.low, GRAINS[name]) * max(span.high, GRAINS[name]))
        for name, span in spans.items()
        if span is not None
    }


def _learn_span(name: str, forecast: Forecast, alike: Sequence[Took]) -> Span | None:
    """What runs say of one thing; None where one of them does not know it."""
    if name not in forecast.reckoned:
        return None
    grain = GRAINS[name]
    pairs = [(t.reckoned.get(name), t.actual.get(name)) for t in alike]
    known = [(math.log(max(r, grain)), math.log(max(a, grain))) for r, a in pairs if r and a]
    if len(known) < len(pairs):  # nothing was asked of it, or its price is not known
        return Span(median=0.0) if not any(actual for _, actual in pairs) else None
    # Where runs took much the same whatever was reckoned for them, that tells nothing.
    share = float(pstdev(a - r for r, a in known) < pstdev(a for _, a in known))
    rests = sorted(a - share * r for r, a in known)
    middle = share * math.log(max(forecast.reckoned[name], grain))
    low, high = _range(rests)
    return _tell_span(Span(low=low, median=median(rests), high=high), middle, grain)


def _range(rests: Sequence[float]) -> tuple[float, float]:
    """Where the next of some numbers lies, which are in order, in SHARE of the cases."""
    n = len(rests)
    if n < ENOUGH:
        off = _student(n - 1) * stdev(rests) * math.sqrt(1 + 1 / n)
        return fmean(rests) - off, fmean(rests) + off
    at = (1 - SHARE) / 2 * (n + 1) - 1
    return _between(rests, at), _between(rests, n - 1 - at)


def _between(rests: Sequence[float], at: float) -> float:
    """The number at a place of a row of them, which may lie a little outside of it."""
    if at < 0:
        return rests[0] + OUTWARD * at * (rests[1] - rests[0])
    if (beyond := at - len(rests) + 1) > 0:
        return rests[-1] + OUTWARD * beyond * (rests[-1] - rests[-2])
    below = math.floor(at)
    share = at - below
    return rests[below] if not share else (1 - share) * rests[below] + share * rests[below + 1]


def _student(freedom: int) -> float:
    """The quantile of Student's distribution for SHARE, by its expansion around the normal one;
    from 4 degrees of freedom on it is off by less than .2 %.
    """
    z, v = NORMAL, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def _tell_span(rest: Span, middle: float, grain: float) -> Span:
    """A span of logarithms around a middle as numbers, in whole grains, the range outwards."""
    low, usual, high = (
        math.exp(middle + (part or 0.0)) / grain for part in (rest.low, rest.median, rest.high)
    )
    return Span(
        low=round(math.floor(low + 1e-6) * grain, 4),
        median=round(round(usual) * grain, 4),
        high=round(math.ceil(high - 1e-6) * grain, 4),
    )


def _bound_span(span: Span, most: float) -> Span:
    middle = None if span.median is None else min(span.median, most)
    return Span(low=min(span.low, most), median=middle, high=min(span.high, most))
