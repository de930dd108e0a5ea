"""All files drawn from a session's record, by name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from spadework.agents.report.editorial_review import review
from spadework.errors import SessionUnreadable
from spadework.events import Cleaned, Read, Scored, Searched
from spadework.sessions.drawing.phases import phases
from spadework.sessions.drawing.search_files import drawn_searches, had
from spadework.sessions.record.course import Course
from spadework.sessions.storage.files import Metadata, Progress, RoundProgress, read_page
from spadework.sessions.storage.session_file import LEDGER, RESULT
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.web.urls import canonical_url
from spadework.values import STATE_WORDS, Choice, Coverage, Evidence, Result, Source

#: Returns a page's text by content hash, or None.
TextOf = Callable[[str], str | None]


def drawn_research(course: Course, question: str, result: Result | None, text_of: TextOf) -> str:
    """Return the work product as Markdown."""
    pages = _Pages(course, result, text_of)
    lines = [f"# Research: {escape_markdown(question)}", "", "## Topics", "", *_topics(course), ""]
    lines += ["## Pages", "", *(list(pages.lines()) or ["None was read."]), ""]
    return "\n".join(lines)


def _topics(course: Course) -> Iterator[str]:
    newest: dict[str, Coverage] = {}
    for done in course.rounds:
        newest |= {coverage.topic: coverage for coverage in done.coverage}
    scores: dict[str, list[Scored]] = {}
    for scored in course.scores:
        scores.setdefault(scored.topic, []).append(scored)
    if not newest:
        yield "None was judged yet."
    for topic, coverage in newest.items():
        yield (
            f"- {escape_markdown(topic)}: {STATE_WORDS[coverage.state]},"
            f" {len(coverage.evidence_ids)} quotes"
        )
        for one in scores.get(topic, ()):
            yield f"  - round {one.round}, judged by {one.by}: {escape_markdown(one.why)}"
        yield from (f"  - missing: {escape_markdown(gap)}" for gap in coverage.gaps)


class _Pages:
    """The pages of a course, with their details."""

    def __init__(self, course: Course, result: Result | None, text_of: TextOf) -> None:
        self._course, self._text_of = course, text_of
        self._cleaned = {one.content_hash: one for one in course.cleanings}
        self._sources = {source.url: source for source in result.sources} if result else {}
        self._choices: dict[str, Choice] = {}
        for made in course.selections:
            for hit in made.hits:
                self._choices.setdefault(canonical_url(hit.url), hit)

    def lines(self) -> Iterator[str]:
        """Yield all pages, one after another."""
        for n, read in enumerate(self._course.pages.values(), 1):
            yield from self._page(n, read)

    def _page(self, n: int, read: Read) -> Iterator[str]:
        cleaned = self._cleaned.get(read.content_hash)
        yield f"### {n}. {escape_markdown(read.title or read.url)}\n"
        yield f"- {escape_markdown(read.url)}"
        yield f"- {', '.join(had(read))}"
        if cleaned:
            yield _of_cleaning(cleaned)
        if scores := ", ".join(self._scores(read)):
            yield f"- {scores}"
        hashes = {read.content_hash, cleaned.after_hash if cleaned else ""}
        proven = [
            e
            for e in self._course.evidence
            if (e.content_hash in hashes if read.content_hash else e.url == read.url)
        ]
        yield from (
            f"- proves {e.id} ({escape_markdown(e.topic)}): “{escape_markdown(e.quote)}”"
            for e in proven
        )
        if not proven:
            yield "- proves nothing"
        text = self._text_of(cleaned.after_hash if cleaned else read.content_hash)
        yield f"\n{_fence_text(text)}\n" if text else ""

    def _scores(self, read: Read) -> Iterator[str]:
        if choice := self._choices.get(canonical_url(read.url)):
            yield f"relevance {choice.relevance:.3f}"
            yield f"fused score {choice.rrf:.4f}"
        source: Source | None = self._sources.get(read.url)
        if source:
            yield source.trust_told
            yield f"source {source.n} of the report"


def _of_cleaning(cleaned: Cleaned) -> str:
    if cleaned.content_hash == cleaned.after_hash:
        why = f": {escape_markdown(cleaned.reason)}" if cleaned.reason else ""
        return f"- a model was shown it and left it as it was{why}"
    return f"- cleaned by a model: {cleaned.before} characters, now {cleaned.chars}"


def _fence_text(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"~+", text)), default=0)
    fence = "~" * max(3, longest + 1)
    return f"{fence}markdown\n{text}\n{fence}"


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
                "evidence": result.evidence_count,
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
