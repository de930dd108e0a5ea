"""The figures of a session, the basis of statistics, and its alerts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

#: Phases of a run in order; see `spadework.sessions.drawing.phases`. They overlap, since topics are
#: researched concurrently. "start" is the time before the first.
PHASES = ("start", "plan", "search", "read", "assess", "write")


class Worth(NamedTuple):
    """What one provider, kind of query or round (`by`) contributed: searches, hits, quotes, cited
    ones, and cited ones that nothing else of its kind found.
    """

    by: str
    name: str
    searches: int = 0
    hits: int = 0
    evidence: int = 0
    cited: int = 0
    alone: int = 0


class Gain(NamedTuple):
    """One round of a session: mean coverage score (0..1) before and after, evidence added, how much
    of it is cited, and the final quality (0..10).

    `quality` is None if no model rated it.
    """

    session_id: str
    round: int
    before: float
    after: float
    evidence: int
    cited: int
    quality: float | None = None


class Figures(NamedTuple):
    """What one session found and cost. `seconds_limit` is its time limit; `money` is None if a
    price was unknown; `requests` are searches and pages, including cached ones.

    `writers` and `judges` count the cited sentences that each model, or "code", wrote and judged.
    `phases` are the seconds of PHASES, `foreseen` the low, median (or None) and high of the
    estimated seconds and the number of runs behind it; both [] if unknown.
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


#: Shares above which (for cached answers: below which) a session needs attention.
MOST_TIME, MOST_TOO_LONG, MOST_ERRORS, LEAST_CACHED = 0.90, 0.05, 0.10, 0.50
#: Below this many requests a share means nothing; a provider is skipped after so many failures.
FEW = 3

#: Subject of an alert.
Alert = Literal["time", "too long", "searches", "model calls", "unknown"]


def alerts_of(f: Figures) -> list[str]:
    """Return what needs attention in a session, one sentence each."""
    return [f"{f.session_id}: {sentence}." for _, sentence in found_alerts(f)]


def found_alerts(f: Figures) -> Iterator[tuple[Alert, str]]:
    """Yield what needs attention in a session: the subject and the sentence."""
    if f.seconds > MOST_TIME * f.seconds_limit > 0:
        yield "time", f"it took {f.seconds:.0f} s of the {f.seconds_limit:.0f} s it was given"
    if _over(f.too_long, f.model_calls, MOST_TOO_LONG):
        yield "too long", f"{f.too_long} of {f.model_calls} requests were too long for the model"
    if _over(f.search_errors, f.searches, MOST_ERRORS):
        yield "searches", _failed(f.search_errors, f.searches, "searches")
    if _over(f.model_errors, f.model_calls, MOST_ERRORS):
        yield "model calls", _failed(f.model_errors, f.model_calls, "model calls")
    if f.follows and f.requests >= FEW and f.cache_hits < LEAST_CACHED * f.requests:
        known = f"only {f.cache_hits} of {f.requests} searches and pages were known"
        yield "unknown", f"{known}, though it follows up another session"


def _failed(errors: int, asked: int, what: str) -> str:
    return f"{errors} of {max(asked, errors)} {what} failed"


def _over(part: int, whole: int, most: float) -> bool:
    whole = max(whole, part)
    return whole >= FEW and part > most * whole
