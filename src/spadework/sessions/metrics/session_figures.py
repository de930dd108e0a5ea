"""A session's figures, the basis of statistics, and its alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spadework.errors import SessionNotFound, SessionUnreadable
from spadework.sessions.metrics.session_index import Drawn
from spadework.sessions.record.course import Course, phases
from spadework.sessions.record.log import read_log
from spadework.sessions.storage.files import Metadata, read_metadata, read_result
from spadework.values import Result, Span

#: A run's phases in order. They overlap, since topics are researched concurrently (see
#: `spadework.sessions.record.course`). "start" is the time before the first.
PHASES = ("start", "plan", "search", "read", "assess", "write")


class Figures(NamedTuple):
    """What one session found and cost.

    - `seconds_limit`: 0 if unknown; `money`: None if a price was unknown.
    - `requests`: including cached ones.
    - `writers`, `judges`: the cited sentences that each model, or "code", wrote or judged.
    - `phases`: the seconds per phase (see PHASES), or [] if unknown.
    - `foreseen`: the low, median (or None) and high estimates in seconds, and the number of runs
      behind them, or [] if unknown.
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


# A session above any of these, or below LEAST_CACHED, gets an alert.
#: Maximum fraction of the time limit that a run may use.
MOST_TIME = 0.90
#: Maximum fraction of model requests that are too long.
MOST_TOO_LONG = 0.05
#: Maximum fraction of searches or model calls that fail.
MOST_ERRORS = 0.10
#: Minimum fraction of a follow-up's searches and pages that come from a cache.
LEAST_CACHED = 0.50
#: Minimum requests for a meaningful fraction. A provider is skipped after this many failures.
FEW = 3

Alert = Literal["time", "too long", "searches", "model calls", "unknown"]


def alerts_of(f: Figures) -> list[str]:
    """Return a session's alerts, one sentence each."""
    return [f"{f.session_id}: {sentence}." for _, sentence in found_alerts(f)]


def found_alerts(f: Figures) -> Iterator[tuple[Alert, str]]:
    """Yield a session's alerts: the subject, and a clause about it."""
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


def draw(folder: Path) -> Drawn:
    """Return the figures and alerts of a session for `statistics`. The value is None for an
    unfinished session or one without a report, and a sentence for a damaged one.
    """
    try:
        metadata, result = read_metadata(folder), read_result(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)
    except SessionUnreadable as error:
        return Drawn(str(error), kept=False)
    if result is None or metadata.kind != "research":
        return Drawn(None)
    course = Course(event for event in read_log(folder) if event is not None)
    figures = figures_of(metadata, result, course)
    return Drawn([figures, alerts_of(figures)])


def _count_quotes(result: Result) -> tuple[int, int]:
    told = {c.evidence_id for c in result.citations}
    told |= {i for s in result.document.sections for one in s.sentences for i in one.evidence_ids}
    found = [entry.id for topic in result.topics for entry in topic.evidence]
    return len(found), sum(id_ in told for id_ in found)


def figures_of(metadata: Metadata, result: Result, course: Course) -> Figures:
    """Return the figures of a finished session."""
    used, forecast = result.usage, result.forecast
    quotes, cited = _count_quotes(result)
    span = forecast.seconds if forecast else Span()
    read, tried = _pages(course)
    sentences = {c.sentence: c for c in result.citations}.values()
    return Figures(
        session_id=metadata.id,
        follows=metadata.follows,
        question=result.question,
        created_at=metadata.created_at.isoformat(),
        status=result.status,
        mode=result.mode,
        seconds=result.timings.get("total", 0.0),
        seconds_limit=60 * metadata.limits.minutes if metadata.limits else 0.0,
        covered=sum(topic.covered for topic in result.topics),
        topics=len(result.topics),
        evidence=quotes,
        cited=cited,
        writers=Counter(c.maker for c in sentences),
        judges=Counter(c.judge for c in sentences),
        searches=used.searches,
        search_errors=used.search_errors,
        pages=used.pages,
        pages_read=read,
        pages_tried=tried,
        model_calls=used.model_calls,
        model_errors=used.model_errors,
        too_long=used.too_long,
        tokens=used.tokens_in + used.tokens_out,
        money=used.money,
        cache_hits=used.cache_hits,
        requests=used.cache_hits + used.searches + used.fetches,
        phases=_by_phase(course),
        foreseen=[span.low, span.median, span.high, forecast.runs] if forecast else [],
    )


def _pages(course: Course) -> tuple[int, int]:
    tried: dict[str, bool] = {}
    for read in course.reads:
        tried[read.url] = tried.get(read.url, False) or not read.reason
    return sum(tried.values()), len(tried)


def _by_phase(course: Course) -> list[float]:
    spent = dict.fromkeys(PHASES, 0.0)
    found = phases(course)
    spent["start"] = min((phase.after for phase in found), default=0.0)
    for phase in found:
        spent[phase.name] += phase.seconds
    return [round(seconds, 2) for seconds in spent.values()] if found else []
