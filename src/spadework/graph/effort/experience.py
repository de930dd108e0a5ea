"""Estimates from earlier runs of the same kind, model and machine: a median, and a range that
contains nine of ten runs.

Each earlier run counts as the ratio of its actual to its reckoned value; its logarithm is alike for
short and long runs. From LEAST runs on these are assumed normal, and the range is Student's
prediction interval. From ENOUGH on it lies between two of them, whatever their distribution, as in
conformal prediction: the next run is equally likely in any gap between earlier ones, or beyond the
first or last. If the range ends beyond them, the gap there is taken as OUTWARD times the
neighbouring one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, pstdev, stdev
from typing import NamedTuple, cast

from spadework.values import Forecast, Span

#: Runs from which they outweigh constants, runs from which two of them bound the range, and the
#: maximum used, newest first.
LEAST, ENOUGH, MOST = 5, 10, 60
#: Width of the gap beyond the outermost run relative to the one before. With 2, .87 to .91 of 10 to
#: 16 runs from five distributions (normal, bimodal, long tail, rare slow ones, uniform) are in the
#: range; Student's has .89 to .97 but is up to a third wider.
OUTWARD = 2.0
#: Share of runs within the range, and its normal quantile.
SHARE, NORMAL = 0.90, 1.6449
#: Estimated quantities, and their resolution.
GRAINS: dict[str, float] = dict.fromkeys(("rounds", "searches", "pages", "calls", "tokens"), 1.0)
GRAINS |= {"seconds": 0.01, "money": 0.0001}


class Took(NamedTuple):
    """A finished run: its kind, the constants' estimate, and the actual values, by the names of
    GRAINS.
    """

    kind: str
    machine: str
    reckoned: Mapping[str, float]
    actual: Mapping[str, float]


def by_experience(
    reckoned: Forecast, earlier: Sequence[Took], limits: Mapping[str, float]
) -> Forecast:
    """Refine the constants' estimate by `earlier` runs, newest first. `limits` end a run, by the
    names of GRAINS.
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
    """Return the geometric middle of the constants' ranges, by the names of GRAINS."""
    spans = {name: cast("Span | None", getattr(forecast, name)) for name in GRAINS}
    return {
        name: math.sqrt(max(span.low, GRAINS[name]) * max(span.high, GRAINS[name]))
        for name, span in spans.items()
        if span is not None
    }


def _learn_span(name: str, forecast: Forecast, alike: Sequence[Took]) -> Span | None:
    """Return the range of one quantity from runs; None if one of them does not know it."""
    if name not in forecast.reckoned:
        return None
    grain = GRAINS[name]
    pairs = [(t.reckoned.get(name), t.actual.get(name)) for t in alike]
    known = [(math.log(max(r, grain)), math.log(max(a, grain))) for r, a in pairs if r and a]
    if len(known) < len(pairs):  # nothing was asked of it, or its price is unknown
        return Span(median=0.0) if not any(actual for _, actual in pairs) else None
    # If runs took much the same whatever was estimated, ignore the estimates.
    share = float(pstdev(a - r for r, a in known) < pstdev(a for _, a in known))
    rests = sorted(a - share * r for r, a in known)
    middle = share * math.log(max(forecast.reckoned[name], grain))
    low, high = _range(rests)
    return _tell_span(Span(low=low, median=median(rests), high=high), middle, grain)


def _range(rests: Sequence[float]) -> tuple[float, float]:
    """Return the range of the next of some sorted numbers with probability SHARE."""
    n = len(rests)
    if n < ENOUGH:
        off = _student(n - 1) * stdev(rests) * math.sqrt(1 + 1 / n)
        return fmean(rests) - off, fmean(rests) + off
    at = (1 - SHARE) / 2 * (n + 1) - 1
    return _between(rests, at), _between(rests, n - 1 - at)


def _between(rests: Sequence[float], at: float) -> float:
    """Return the number at a fractional position, possibly slightly outside."""
    if at < 0:
        return rests[0] + OUTWARD * at * (rests[1] - rests[0])
    if (beyond := at - len(rests) + 1) > 0:
        return rests[-1] + OUTWARD * beyond * (rests[-1] - rests[-2])
    below = math.floor(at)
    share = at - below
    return rests[below] if not share else (1 - share) * rests[below] + share * rests[below + 1]


def _student(freedom: int) -> float:
    """Return Student's quantile for SHARE by expansion around the normal one; accurate to .2 % from
    4 degrees of freedom.
    """
    z, v = NORMAL, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


def _tell_span(rest: Span, middle: float, grain: float) -> Span:
    """Convert a range of logarithms around a middle to numbers, rounded outwards to the
    resolution.
    """
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
