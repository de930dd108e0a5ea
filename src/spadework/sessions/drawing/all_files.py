"""All files drawn from a session's record, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from spadework.agents.report.editorial_review import review
from spadework.errors import SessionUnreadable
from spadework.events import Read, Searched
from spadework.sessions.drawing.phases import phases
from spadework.sessions.drawing.research_files import drawn_research
from spadework.sessions.drawing.search_files import drawn_searches
from spadework.sessions.record.course import Course
from spadework.sessions.storage.files import Metadata, Progress, RoundProgress, read_page
from spadework.sessions.storage.session_file import LEDGER, RESULT
from spadework.tools.web.urls import canonical_url
from spadework.values import Evidence, Result

SEARCHES, RESEARCH = "search_workproduct", "intelligent_research_workproduct"
REPORT, REVIEW = "research_report", "editorial_review"


#: Counts of what was found, chosen and read, and the total seconds of each kind of work.
Measures = dict[str, float | int | None]


def stamp_name(name: str, metadata: Metadata) -> str:
    """Return a file's name with the session's start time."""
    return f"{name}_{metadata.created_at:%Y%m%d_%H%M%S}.md"


def drawn_progress(course: Course, result: Result | None) -> Progress:
    """Return a session's progress."""
    plan = course.plan
    ended = course.ended.how if course.ended else ""
    state = result.status if result else ended or ("searching" if plan else "started")
    rounds = tuple(
        RoundProgress(round=done.round, evidence=done.evidence, coverage=done.coverage)
        for done in course.rounds
    )
    topics = tuple(topic.name for topic in plan.topics) if plan else ()
    return Progress(
        state=state, topics=topics, rounds=rounds, problems=course.problems, phases=phases(course)
    )


def drawn_work(
    folder: Path, course: Course, metadata: Metadata, result: Result | None
) -> dict[str, bytes]:
    """Return the two work products; page texts are read from `folder`."""

    def text_of(content_hash: str) -> str | None:
        with suppress(SessionUnreadable):
            return read_page(folder, content_hash)
        return None

    searches = drawn_searches(course, metadata.query)
    research = drawn_research(course, metadata.query, result, text_of)
    return {
        stamp_name(SEARCHES, metadata): searches.encode(),
        stamp_name(RESEARCH, metadata): research.encode(),
    }


def drawn_ledger(evidence: list[Evidence]) -> bytes:
    """Return the ledger, one JSON object per line, without step fields where unused."""
    lines = (
        entry.model_dump_json(exclude={"step", "steps"} if entry.step is None else None)
        for entry in evidence
    )
    return "".join(f"{line}\n" for line in lines).encode()


def drawn_report(result: Result, metadata: Metadata) -> dict[str, bytes]:
    """Return the report, its review, and the result."""
    reviewed = {stamp_name(REVIEW, metadata): review(result).encode()} if result.topics else {}
    return {
        stamp_name(REPORT, metadata): result.report.encode(),
        **reviewed,
        RESULT: result.model_dump_json(indent=1).encode(),
    }


def drawn_metadata(
    folder: Path, course: Course, metadata: Metadata, result: Result | None
) -> Metadata:
    """Return a session's metadata with its metrics and existing files."""
    metrics = _measures(course) if course.timed else {}
    changes: dict[str, object] = {"performance_metrics": metrics}
    if result:
        changes = {
            "status": result.status,
            "method": result.mode,
            "forecast": result.forecast,
            "performance_metrics": {
                **result.timings,
                **result.usage.model_dump(),
                "iterations": result.iterations,
                **metrics,
            },
            "results_summary": {
                "covered": sum(topic.covered for topic in result.topics),
                "topics": len(result.topics),
                "evidence": result.answering,
                "sources": len(result.sources),
                "confidence": result.confidence,
            },
        }
    return metadata.model_copy(
        update={**changes, "file_paths": _written_files(folder, metadata, result)}
    )


def _written_files(folder: Path, metadata: Metadata, result: Result | None) -> dict[str, str]:
    named = {kind: stamp_name(kind, metadata) for kind in (SEARCHES, RESEARCH, REVIEW)}
    found = {
        kind: name
        for kind, name in ({"evidence": LEDGER} | named).items()
        if (folder / name).exists()
    }
    report = {"report": stamp_name(REPORT, metadata), "result": RESULT} if result else {}
    return {**report, "pages": "pages/", **found}


def as_file(value: Metadata | Progress) -> bytes:
    """Return a value as in its file."""
    return value.model_dump_json(indent=1).encode()


def _measures(course: Course) -> Measures:
    """Return the metrics by name; a share or mean of nothing is None."""
    return {**_of_searching(course), **_of_reading(course), **_of_models(course)}


def _of_searching(course: Course) -> Measures:
    searches = course.searches
    answered = [event for event in searches if isinstance(event, Searched)]
    found = {canonical_url(hit.url) for event in answered for hit in event.found}
    chosen = [hit for made in course.selections for hit in made.hits if hit.fate == "chosen"]
    selected = {canonical_url(hit.url): hit.relevance for hit in reversed(chosen)}
    return {
        "search_seconds": _sum(event.seconds for event in searches),
        "searches_answered": len(answered),
        "searches_failed": len(searches) - len(answered),
        "found": len(found),
        "selected": len(selected),
        "mean_relevance": _mean(selected.values()),
    }


def _of_reading(course: Course) -> Measures:
    tried: dict[str, list[Read]] = {}
    for read in course.reads:
        tried.setdefault(canonical_url(read.url), []).append(read)
    # A page wanted by several topics counts once.
    came = [min(some, key=lambda read: bool(read.reason)) for some in tried.values()]
    pages = course.pages.values()
    cleaning = [*(read.cleaning for read in pages), *(e.seconds for e in course.cleanings)]
    return {
        "crawl_seconds": _sum(attempt.seconds for attempt in course.attempts),
        "attempts": sum(not attempt.cached for attempt in course.attempts),
        "crawl_bytes": sum(attempt.bytes for attempt in course.attempts),
        "cleaning_seconds": _sum(cleaning),
        "pages_read": sum(not read.reason for read in came),
        "pages_failed": sum(bool(read.reason) for read in came),
        "success_rate": _mean([float(not read.reason) for read in came]),
        "characters": sum(read.chars for read in pages),
        "characters_cleaned_away": sum(e.before - e.chars for e in course.cleanings),
    }


def _of_models(course: Course) -> Measures:
    calls = course.calls
    return {
        "model_seconds": _sum(call.seconds for call in calls),
        "calls_answered": sum(call.verdict == "fits" for call in calls),
        "calls_misshapen": sum(call.verdict == "misshapen" for call in calls),
        "calls_too_long": sum(call.verdict == "too long" for call in calls),
        "calls_failed": sum(call.failed for call in calls),
    }


def _sum(seconds: Iterable[float | None]) -> float:
    # A sum independent of order: redrawn files are identical.
    return round(math.fsum(one or 0.0 for one in seconds), 3)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return round(sum(listed) / len(listed), 3) if listed else None
