"""Pages from earlier sessions, and whether they answer a question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, Self

import zstandard

from spadework.clock import today
from spadework.settings import Settings
from spadework.tools.ranking.recency import freshness_of
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language, spoken
from spadework.tools.web.urls import canonical_url, domain_of, host_of
from spadework.values import Freshness, Page, Query, Task

#: Minimum characters of a page worth storing.
LEAST_CHARS = 200
#: Maximum age in hours where recent pages are wanted.
RECENT_HOURS = 12


@dataclass(frozen=True)
class Entry:
    """A page with its Markdown. `own`: from a host that only its owner may visit
    (`allow_hosts`).
    """

    page: Page
    text: str
    own: bool = False

    @classmethod
    def unpacked(cls, record: str, packed: bytes, own: int) -> Self:
        """Return the entry of a row: its page as JSON, its text compressed."""
        text = zstandard.decompress(packed).decode()
        return cls(Page.model_validate_json(record), text, bool(own))

    @property
    def key(self) -> str:
        """The canonical URL of the page."""
        return canonical_url(self.page.url)


@dataclass(frozen=True)
class Recalled:
    """A page that matches a question, and its matching `passages`, merged, best first. `share` is
    how much of the question its best passage or title covers, 0..1; less for few words.
    """

    entry: Entry
    snippet: str
    share: float
    passages: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Which:
    """Pages at these URLs or hosts (none named: all), fetched `before` then."""

    named: tuple[str, ...] = ()
    before: datetime | None = None

    @property
    def urls(self) -> list[str]:
        """The URLs, in the form of `Entry.key`."""
        return [canonical_url(name) for name in self.named if "://" in name]

    @property
    def hosts(self) -> list[str]:
        """The hosts; each includes its subdomains."""
        hosts = [name.strip().lower() for name in self.named if "://" not in name]
        return [host_of(f"http://{host}").removeprefix("www.") for host in hosts]


def worth_keeping(page: Page) -> bool:
    """Return whether a page may be stored: read from the web in this run, complete and long
    enough.
    """
    web = page.url.startswith(("http://", "https://")) and page.level >= 0
    whole = page.status == 200 and page.chars >= LEAST_CHARS
    return web and whole and not page.stale and not page.known


def merge_spans(spans: Sequence[tuple[int, int]], gap: int = 2) -> tuple[tuple[int, int], ...]:
    """Return text spans in order, merging those that are at most `gap` characters apart."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def condition_of(which: Which, value: str = "?") -> tuple[str, list[object]]:
    """Return an SQL condition on url, host and fetched_at, with its values; `value` is the
    placeholder.
    """
    parts, values = [], list[object]()
    for url in which.urls:
        parts.append(f"url = {value}")
        values.append(url)
    for host in which.hosts:
        # A host shorter than the suffix cannot end with it.
        end = f"substr(host, length(host) - length({value}) + 1)"
        parts.append(f"host = {value} OR {end} = {value}")
        values += [host, f".{host}", f".{host}"]
    condition = f"({' OR '.join(parts)})" if which.named else "TRUE"
    if which.before is not None:
        condition = f"{condition} AND fetched_at < {value}"
        values.append(which.before.timestamp())
    return condition, values


class Knowledge(Protocol):
    """Pages by canonical URL, each in its newest version. All methods raise KnowledgeError if
    unusable.
    """

    @property
    def describes(self) -> str:
        """Its location, for `doctor` and messages."""
        ...

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Return at most `limit` pages fetched since then that match a question, best first."""
        ...

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """Return the page at a URL, marking it as used; None if unknown or fetched before
        `since`.
        """
        ...

    async def add(self, entries: Sequence[Entry]) -> int:
        """Store pages; newer versions replace older. Returns how many are new or newer."""
        ...

    async def forget(self, which: Which) -> int:
        """Delete pages, with every word of them; return how many."""
        ...

    def pages(self, which: Which) -> AsyncIterator[Page]:
        """Yield the stored pages, newest first."""
        ...

    async def count(self) -> int:
        """Return the exact number of stored pages."""
        ...

    async def close(self) -> None:
        """Release connections and files."""
        ...


#: Minimum share of the question's needed terms in a passage or the title of a relevant page: the
#: lowest step of `benchmarks/poison.py` at which no page of an unrelated store passes, for any
#: question.
RELEVANT = 0.8
#: Minimum domains of relevant pages, so that one site never replaces the web.
DOMAINS = 3
#: Minimum share of the topic's aspects that relevant pages cover.
ASPECTS = 0.6


def fresh_since(
    queries: Sequence[Query], settings: Settings, now: datetime | None = None
) -> datetime | None:
    """Return since when a stored page is fresh enough for the queries; None to use only the web."""
    wanted: set[Freshness] = {freshness_of(query) for query in queries}
    days: dict[Freshness, float] = {
        "any": settings.knowledge_days,
        "recent": RECENT_HOURS / 24,
        "now": 0.0,
    }
    allowed = min((days[freshness] for freshness in wanted), default=0.0)
    return (now or today()) - timedelta(days=allowed) if allowed else None


def subject(question: str) -> str:
    """Return a question without its counting words: no page must contain "how many"."""
    count = language(spoken(question)).cues.get("count")
    return count.sub(" ", question) if count else question


def relevant(found: Sequence[Sequence[Recalled]]) -> list[Recalled]:
    """Return the relevant pages, best first; `found` for the question and its topic."""
    best: dict[str, Recalled] = {}
    for one in (one for pages in found for one in pages if one.share >= RELEVANT):
        known = best.setdefault(one.entry.key, one)
        best[one.entry.key] = max(known, one, key=lambda each: each.share)
    return sorted(best.values(), key=lambda each: -each.share)


def enough(found: Sequence[Recalled], task: Task) -> bool:
    """Return whether pages suffice for a task. A survey, which needs many, and a gap never have
    enough.
    """
    many = len({domain_of(one.entry.page.url) for one in found}) >= DOMAINS
    if task.broad or task.round != 1 or not many:
        return False
    code = spoken(*(one.entry.text for one in found))
    aspects = [words for aspect in task.topic.must_cover if (words := stems(aspect, code))]
    if not aspects:
        return True
    texts = (f"{one.entry.page.title}\n{one.entry.text}" for one in found)
    known = set[str]().union(*(stems(text, code) for text in texts))
    return sum(words <= known for words in aspects) >= ASPECTS * len(aspects)
