"""Define a session's figures for the statistics, and derive its alerts from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

#: A run's phases, which overlap because topics are researched concurrently. "start" is the time
#: before any other phase.
PHASES = ("start", "plan", "search", "read", "assess", "write")


class Figures(NamedTuple):
    """A session's results and costs.
    - `seconds_limit`: 0 if unknown; `money`: None if a price was unknown.
    - `requests`: number of searches and fetches, including those answered from a cache.
    - `writers`, `judges`: number of cited sentences that each model (or "code") wrote or
      judged.
    - `phases`: seconds per phase (see PHASES), or [] if unknown.
    - `foreseen`: [low seconds, median or None, high seconds, run count], or [] if not forecast.
    """

    session_id: str
    follows: str
    question: str
    created_at: str
    status: str
    mode: str
    seconds: float
    seconds_limit: float
    covered: int
    topics: int
    evidence: int
    cited: int
    writers: Mapping[str, int]
    judges: Mapping[str, int]
    searches: int
    search_errors: int
    pages: int
    pages_read: int
    pages_tried: int
    model_calls: int
    model_errors: int
    too_long: int
    tokens: int
    money: float | None
    cache_hits: int
    requests: int
    phases: Sequence[float]
    foreseen: Sequence[Any]


# Maximum fraction of the time limit that a run may use. A session that violates this limit, or one
# of the limits below, gets an alert.
MOST_TIME = 0.90
#: Maximum fraction of model requests that may be too long for the model.
MOST_TOO_LONG = 0.05
#: Maximum fraction of searches, and of model calls, that may fail.
MOST_ERRORS = 0.10
#: Minimum fraction of a follow-up's searches and pages that must come from a cache.
LEAST_CACHED = 0.50
#: The limits on fractions of requests apply only if there were at least this many requests. After
#: this many failures, a search provider is skipped.
FEW = 3

Alert = Literal["time", "too long", "searches", "model calls", "unknown"]


def alerts_of(f: Figures) -> list[str]:
    """Return a session's alerts, one sentence each."""
    return [f"{f.session_id}: {sentence}." for _, sentence in found_alerts(f)]


def found_alerts(f: Figures) -> Iterator[tuple[Alert, str]]:
    """Yield each alert's subject, and a clause that describes the alert."""
    if f.seconds > MOST_TIME * f.seconds_limit > 0:
        yield "time", f"took {f.seconds:.0f} s of the {f.seconds_limit:.0f} s allowed"
    if _over(f.too_long, f.model_calls, MOST_TOO_LONG):
        yield "too long", f"{f.too_long} of {f.model_calls} requests were too long for the model"
    if _over(f.search_errors, f.searches, MOST_ERRORS):
        yield "searches", _failed(f.search_errors, f.searches, "searches")
    if _over(f.model_errors, f.model_calls, MOST_ERRORS):
        yield "model calls", _failed(f.model_errors, f.model_calls, "model calls")
    if f.follows and f.requests >= FEW and f.cache_hits < LEAST_CACHED * f.requests:
        known = f"only {f.cache_hits} of {f.requests} searches and pages came from the cache"
        yield "unknown", f"{known}, although this is a follow-up"


def _failed(errors: int, asked: int, what: str) -> str:
    return f"{errors} of {max(asked, errors)} {what} failed"


def _over(part: int, whole: int, most: float) -> bool:
    whole = max(whole, part)
    return whole >= FEW and part > most * whole
