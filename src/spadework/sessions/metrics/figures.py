"""Compute one session's figures from its files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from spadework.errors import SessionNotFound, SessionUnreadable
from spadework.sessions.metrics.session_figures import PHASES, Figures, alerts_of
from spadework.sessions.metrics.session_index import Drawn
from spadework.sessions.record.course import Course, phases
from spadework.sessions.record.log import read_log
from spadework.sessions.storage.files import Metadata, read_metadata, read_result
from spadework.values import Result, Span


def draw(folder: Path) -> Drawn:
    """Return the figures and alerts of a session for `statistics`.
    The value is None for an unfinished session or one without a report, and a sentence for a
    damaged one.
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
    """Return the numbers of quotes, and of those that the report uses."""
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
