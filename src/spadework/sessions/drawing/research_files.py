"""Work product of the research: coverage of topics, and pages with their evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from spadework.events import Cleaned, Read, Scored
from spadework.sessions.drawing.search_files import had
from spadework.sessions.record.course import Course
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.web.urls import canonical_url
from spadework.values import STATE_WORDS, Choice, Coverage, Result, Source

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
