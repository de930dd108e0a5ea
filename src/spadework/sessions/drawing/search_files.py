"""Work product of the search: queries, hits with decisions and reasons, pages tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby

from spadework.events import Read, Searched, Unanswered
from spadework.sessions.record.course import Course
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.web.urls import canonical_url
from spadework.values import Attempt, Choice, Lead

#: How a page was fetched, by level.
LEVELS = {-1: "from disk", 0: "plain HTTP", 1: "browser-like headers", 2: "browser", 3: "browser"}

_READ, _ENOUGH = "It was read in an earlier round.", "No more hits of this query were wanted."
_Choices = Mapping[tuple[int, str, str], Choice]


def drawn_searches(course: Course, question: str) -> str:
    """Return the work product as Markdown."""
    lines = [f"# Searches: {escape_markdown(question)}", "", *_describe_searches(course)]
    lines += ["## Leads that were not read", "", *(_or_none(_describe_unread(course))), ""]
    lines += ["## Pages that were tried", "", *(_or_none(map(_describe_attempt, course.reads))), ""]
    return "\n".join(lines)


def drawn_pages(course: Course) -> str:
    """Return read and unread pages of a run before any assessment; "" if there are none."""
    if not course.reads:
        return ""
    lines = [*map(_describe_attempt, course.reads)]
    return "\n".join(["Nothing is judged yet. Pages that were tried:", "", *lines, ""])


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
        f"### “{escape_markdown(event.query)}” at {escape_markdown(event.provider)} ({event.kind})"
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
        yield f"   - left: {left}"
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
    """Yield how a page was obtained, in a few words each."""
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
