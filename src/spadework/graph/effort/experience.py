"""Forecast a run from similar earlier runs, as a median and a range between two quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple

from spadework.values import Forecast, Span

#: Minimum and maximum number of runs to use, newest first.
LEAST, MOST = 5, 20
#: The range excludes one part in this many at each end.
PARTS = 20
#: Forecast quantities and their decimal places.
DIGITS: dict[str, int] = dict.fromkeys(("rounds", "searches", "pages", "calls", "tokens"), 0)
DIGITS |= {"seconds": 2, "money": 4}


class Took(NamedTuple):
    """A finished run: its kind, its machine, and its usage by the names in DIGITS."""

    kind: str
    machine: str
    actual: Mapping[str, float]


def by_experience(made: Forecast, earlier: Sequence[Took], limits: Mapping[str, float]) -> Forecast:
    """Return a forecast corrected by `earlier` runs (newest first) of its kind and machine, if
    there are enough. `limits` caps it, by the names in DIGITS.
    """
    alike = [t.actual for t in earlier if (t.kind, t.machine) == (made.kind, made.machine)][:MOST]
    if len(alike) < LEAST:
        return made
    spans = {
        name: _span([actual[name] for actual in alike], digits, limits.get(name, math.inf))
        for name, digits in DIGITS.items()
        if all(name in actual for actual in alike)
    }
    return made.model_copy(update={**spans, "runs": len(alike)})


def _span(taken: Sequence[float], digits: int, most: float) -> Span:
    low, *_, high = quantiles(taken, n=PARTS)
    grain = 10.0**-digits
    return Span(
        low=round(min(most, max(0.0, math.floor(low / grain + 1e-6) * grain)), digits),
        median=round(min(most, median(taken)), digits),
        high=round(min(most, math.ceil(high / grain - 1e-6) * grain), digits),
    )
