"""Build the files that are derived from a session's record."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from spadework.agents.report.length import review
from spadework.errors import SessionUnreadable
from spadework.events import Cleaned, Read, Scored, Searched, Unanswered
from spadework.sessions.metrics.session_index import RESULT
from spadework.sessions.record.course import Course, phases
from spadework.sessions.storage.files import Metadata, Progress, RoundProgress, read_page
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.web.urls import canonical_url
from spadework.values import STATE_WORDS, Attempt, Choice, Coverage, Evidence, Lead, Result, Source

LEVELS = {-1: "from disk", 0: "plain HTTP", 1: "browser-like headers", 2: "browser", 3: "browser"}

_READ, _ENOUGH = "Already read in an earlier round.", "No more hits for this query were needed."
_Choices = Mapping[tuple[int, str, str], Choice]


def drawn_searches(course: Course, question: str) -> str:
    """Return a Markdown list of the searches, unread hits and pages tried."""
    lines = [f"# Searches: {escape_markdown(question)}", "", *_describe_searches(course)]
    lines += ["## Hits that were not read", "", *(_or_none(_describe_unread(course))), ""]
    lines += ["## Pages that were tried", "", *(_or_none(map(_describe_attempt, course.reads))), ""]
    return "\n".join(lines)


def drawn_pages(course: Course) -> str:
    """Return a Markdown list of the pages tried, to show before any page is assessed."""
    if not course.reads:
        return ""
    lines = [*map(_describe_attempt, course.reads)]
    return "\n".join(["No topics have been judged yet. Pages that were tried:", "", *lines, ""])


def _describe_searches(course: Course) -> Iterator[str]:
    choices = {
        (made.round, made.topic, canonical_url(hit.url)): hit
        for made in course.selections
        for hit in made.hits
    }
    notes = {(made.round, made.topic): made.note for made in course.selections}
    reads = [(read.round, canonical_url(read.url)) for read in course.reads if not read.reason]
    for (number, topic), some in groupby(course.searches, lambda e: (e.round, e.topic)):
        yield f"## Round {number}: {escape_markdown(topic)}" if number else "## Before the plan"
        yield ""
        if note := notes.get((number, topic)):
            yield f"{note}\n"
        chosen = (number, topic) in notes
        earlier = {url for round_, url in reads if round_ < number} if chosen else None
        for event in some:
            yield from _query(event, choices, earlier)


def _query(
    event: Searched | Unanswered, choices: _Choices, earlier: Set[str] | None
) -> Iterator[str]:
    took = f", {event.seconds:.2f} s" if event.seconds is not None else ""
    asked = (
        f"### “{escape_markdown(event.query)}” on {escape_markdown(event.provider)} ({event.kind})"
    )
    if isinstance(event, Unanswered):
        yield f"{asked}: not answered{took}\n\n{escape_markdown(event.reason)}\n"
        return
    yield f"{asked}: {event.hits} hits{took}\n"
    for lead in event.found:
        url = canonical_url(lead.url)
        choice = choices.get((event.round, event.topic, url))
        left = "" if earlier is None else _READ if url in earlier else _ENOUGH
        yield from _hit(lead, choice, left)
    yield ""


def _hit(lead: Lead, choice: Choice | None, left: str) -> Iterator[str]:
    day = f", {lead.published_at:%Y-%m-%d}" if lead.published_at else ""
    yield (
        f"{lead.position}. {escape_markdown(lead.title or lead.url)}:"
        f" {escape_markdown(lead.url)}{day}"
    )
    parts = ", ".join(f"{name} {share:.2f}" for name, share in lead.parts.items())
    yield f"   - relevance {lead.relevance:.3f} ({parts})"
    if choice:
        why = f": {escape_markdown(choice.why)}" if choice.why else ""
        yield f"   - {choice.fate}, fused score {choice.rrf:.4f}{why}"
    elif left:
        yield f"   - not chosen: {left}"
    if lead.snippet:
        yield f"   - “{escape_markdown(lead.snippet)}”"


def _describe_unread(course: Course) -> Iterator[str]:
    reasons = {canonical_url(read.url): read.reason for read in course.reads}
    for choice in course.unread:
        why = reasons.get(canonical_url(choice.url)) or choice.why
        found = ", ".join(dict.fromkeys(f"“{at.query}”" for at in choice.found_by))
        yield (
            f"- {escape_markdown(choice.title or choice.url)}: {escape_markdown(choice.url)}"
            " (relevance"
            f" {choice.relevance:.3f}; {escape_markdown(found)}): {escape_markdown(why)}"
        )


def _describe_attempt(read: Read) -> str:
    name = (
        f"- {escape_markdown(read.topic)}: {escape_markdown(read.title or read.url)}"
        f" ({escape_markdown(read.url)})"
    )
    told = f"not read: {escape_markdown(read.reason)}" if read.reason else ", ".join(had(read))
    more = read.attempts if read.reason or len(read.attempts) > 1 else ()
    return "\n".join([f"{name}: {told}", *map(_line_of_attempt, more)])


def _line_of_attempt(attempt: Attempt) -> str:
    how = "given up" if attempt.level is None else LEVELS[attempt.level]
    answer = "from the cache" if attempt.cached else f"status {attempt.status}"
    answer = answer if attempt.status else "no answer"
    why = f": {escape_markdown(attempt.reason)}" if attempt.reason else ""
    return f"  - {how}, {answer}, {attempt.bytes} bytes, {attempt.seconds:.2f} s{why}"


def had(read: Read) -> Iterator[str]:
    """Yield short phrases about how a page was fetched and cleaned."""
    if read.known:
        yield "known from an earlier run"
    elif read.level is not None:
        yield LEVELS[read.level]
    if read.bytes:
        yield f"status {read.status}"
        yield f"{read.bytes} bytes"
    yield f"{read.chars} characters"
    if read.cleaned_by:
        yield f"cleaned by {read.cleaned_by}"
    if read.fetch_seconds or read.cleaning:
        yield f"fetched in {read.fetch_seconds:.2f} s, cleaned in {read.cleaning:.2f} s"


def _or_none(lines: Iterator[str]) -> list[str]:
    return list(lines) or ["None."]


#: A function that takes a content hash and returns the page's text, or None if it is unavailable.
TextOf = Callable[[str], str | None]


def drawn_research(course: Course, question: str, result: Result | None, text_of: TextOf) -> str:
    """Describe the topics, and the pages read for them, in Markdown."""
    pages = _Pages(course, result, text_of)
    lines = [f"# Research: {escape_markdown(question)}", "", "## Topics", "", *_topics(course), ""]
    lines += ["## Pages", "", *(list(pages.lines()) or ["No pages were read."]), ""]
    return "\n".join(lines)


def _topics(course: Course) -> Iterator[str]:
    newest: dict[str, Coverage] = {}
    for done in course.rounds:
        newest |= {coverage.topic: coverage for coverage in done.coverage}
    scores: dict[str, list[Scored]] = {}
    for scored in course.scores:
        scores.setdefault(scored.topic, []).append(scored)
    if not newest:
        yield "No topics have been judged yet."
    for topic, coverage in newest.items():
        yield (
            f"- {escape_markdown(topic)}: {STATE_WORDS[coverage.state]},"
            f" {len(coverage.evidence_ids)} quotes"
        )
        for one in scores.get(topic, ()):
            yield f"  - round {one.round}, judged by {one.by}: {escape_markdown(one.why)}"
        yield from (f"  - missing: {escape_markdown(gap)}" for gap in coverage.gaps)


class _Pages:
    def __init__(self, course: Course, result: Result | None, text_of: TextOf) -> None:
        self._course, self._text_of = course, text_of
        self._cleaned = {one.content_hash: one for one in course.cleanings}
        self._sources = {source.url: source for source in result.sources} if result else {}
        self._proven: dict[str, list[Evidence]] = defaultdict(list)
        for e in course.evidence:
            self._proven[e.content_hash].append(e)
            self._proven[e.url].append(e)
        self._choices: dict[str, Choice] = {}
        for made in course.selections:
            for hit in made.hits:
                self._choices.setdefault(canonical_url(hit.url), hit)

    def lines(self) -> Iterator[str]:
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
        told = [read.content_hash, cleaned.after_hash if cleaned else ""]
        names = dict.fromkeys(told) if read.content_hash else [read.url]
        proven = [e for name in names for e in self._proven[name]]
        yield from (
            f"- proves {e.id} ({escape_markdown(e.topic)}): “{escape_markdown(e.quote)}”"
            for e in proven
        )
        if not proven:
            yield "- not quoted"
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
        return f"- a model left the text unchanged{why}"
    return f"- cleaned by a model: from {cleaned.before} to {cleaned.chars} characters"


def _fence_text(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"~+", text)), default=0)
    fence = "~" * max(3, longest + 1)
    return f"{fence}markdown\n{text}\n{fence}"


SEARCHES, RESEARCH = "search_workproduct", "intelligent_research_workproduct"
REPORT, REVIEW = "research_report", "editorial_review"
Measures = dict[str, float | int | None]


def stamp_name(name: str, metadata: Metadata) -> str:
    """Return the name of a Markdown file: `name`, followed by the session's start time."""
    return f"{name}_{metadata.created_at:%Y%m%d_%H%M%S}.md"


def drawn_progress(course: Course, result: Result | None) -> Progress:
    """Summarize a session's state, topics, rounds, problems and phases."""
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
    """Return the files about searches and topics, keyed by name, using page texts in `folder`."""

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
    """Serialize the evidence ledger as JSON Lines."""
    lines = (
        entry.model_dump_json(exclude={"step", "steps"} if entry.step is None else None)
        for entry in evidence
    )
    return "".join(f"{line}\n" for line in lines).encode()


def drawn_report(result: Result, metadata: Metadata) -> dict[str, bytes]:
    """Return the report, result and any review, keyed by file name."""
    reviewed = {stamp_name(REVIEW, metadata): review(result).encode()} if result.topics else {}
    return {
        stamp_name(REPORT, metadata): result.report.encode(),
        **reviewed,
        RESULT: result.model_dump_json(indent=1).encode(),
    }


def drawn_metadata(course: Course, metadata: Metadata, result: Result | None) -> Metadata:
    """Return the metadata, updated with the metrics and, if there is one, the result."""
    metrics = _measures(course)
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
    return metadata.model_copy(update=changes)


def as_file(value: Metadata | Progress) -> bytes:
    """Serialize metadata or progress as indented JSON."""
    return value.model_dump_json(indent=1).encode()


def _measures(course: Course) -> Measures:
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
    # Count each page once, and as read if any fetch of it succeeded.
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
    # fsum gives the same result whatever the order, so writing a file again does not change it.
    return round(math.fsum(one or 0.0 for one in seconds), 3)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return round(sum(listed) / len(listed), 3) if listed else None
