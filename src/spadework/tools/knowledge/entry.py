"""Define stored pages, and decide whether they suffice for a question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, Self

import zstandard

from spadework.deadline import today
from spadework.tools.ranking.query_operators import freshness_of
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language, spoken
from spadework.tools.web.urls import canonical_url, domain_of, host_of
from spadework.values import Freshness, Page, Query, Task

LEAST_CHARS = 200
#: Days after which a stored page is stale and is fetched again.
KEPT_DAYS = 7.0
#: Maximum age in hours of a stored page if the query asks for recent pages.
RECENT_HOURS = 12


@dataclass(frozen=True)
class Entry:
    """A page with its text as Markdown. `own` marks a page whose host was in `allow_hosts` when it
    was stored. Only sessions that allow the host may see such a page.
    """

    page: Page
    text: str
    own: bool = False

    @classmethod
    def unpacked(cls, record: str, packed: bytes, own: int) -> Self:
        """Build an entry from a database row: the page as JSON, the compressed text, and `own`."""
        text = zstandard.decompress(packed).decode()
        return cls(Page.model_validate_json(record), text, bool(own))

    @property
    def key(self) -> str:
        """The page's canonical URL."""
        return canonical_url(self.page.url)


@dataclass(frozen=True)
class Recalled:
    """A page that matches a question. `passages` are its matching spans, merged and in order.
    `share` is the weighted fraction (0 to 1) of the question's needed terms that occur in the
    page's title or best passage. It is reduced if the question has very few such terms.
    """

    entry: Entry
    snippet: str
    share: float
    passages: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Which:
    """The pages at the URLs or hosts in `named` (default: all), fetched earlier than `before`."""

    named: tuple[str, ...] = ()
    before: datetime | None = None

    @property
    def urls(self) -> list[str]:
        """The named URLs in the form of `Entry.key`."""
        return [canonical_url(name) for name in self.named if "://" in name]

    @property
    def hosts(self) -> list[str]:
        """The named hosts without "www.", each including its subdomains."""
        hosts = [name.strip().lower() for name in self.named if "://" not in name]
        return [host_of(f"http://{host}").removeprefix("www.") for host in hosts]


def worth_keeping(page: Page) -> bool:
    """Return whether a page is complete, long enough and newly read from the web."""
    web = page.url.startswith(("http://", "https://")) and page.level >= 0
    whole = page.status == 200 and page.chars >= LEAST_CHARS
    return web and whole and not page.stale and not page.known


def merge_spans(spans: Sequence[tuple[int, int]], gap: int = 2) -> tuple[tuple[int, int], ...]:
    """Return spans in order, merging those at most `gap` characters apart."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def condition_of(which: Which, value: str = "?") -> tuple[str, list[object]]:
    """Return an SQL condition to select pages, and its parameters. `value` is the placeholder."""
    parts, values = [], list[object]()
    for url in which.urls:
        parts.append(f"url = {value}")
        values.append(url)
    for host in which.hosts:
        # Compare the suffix with the same number of characters at the end of the host. A host
        # shorter than the suffix never matches.
        end = f"substr(host, length(host) - length({value}) + 1)"
        parts.append(f"host = {value} OR {end} = {value}")
        values += [host, f".{host}", f".{host}"]
    condition = f"({' OR '.join(parts)})" if which.named else "TRUE"
    if which.before is not None:
        condition = f"{condition} AND fetched_at < {value}"
        values.append(which.before.timestamp())
    return condition, values


class Knowledge(Protocol):
    """Stores the latest version of each page. Any method may raise KnowledgeError."""

    @property
    def describes(self) -> str:
        """The location of the store, for `doctor` and messages."""
        ...

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Return at most `limit` matching pages fetched since `since`, best first."""
        ...

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """Return the page at a URL, or None if it is unknown or older than `since`."""
        ...

    async def add(self, entries: Sequence[Entry]) -> int:
        """Store pages that are new or newer than the stored version, and return their number."""
        ...

    async def forget(self, which: Which) -> int:
        """Delete the selected pages and everything indexed for them. Return the number of pages."""
        ...

    def pages(self, which: Which) -> AsyncIterator[Page]:
        """Yield the selected pages, newest first."""
        ...

    async def count(self) -> int:
        """Return the number of stored pages."""
        ...

    async def close(self) -> None:
        """Release connections and files."""
        ...


#: A stored page is relevant if its title and passage contain at least this fraction of the
#: question's needed terms. With lower values, unrelated pages count as relevant in
#: `benchmarks/poison.py`.
RELEVANT = 0.8
#: Relevant stored pages can replace a web search only if they come from at least this many domains.
DOMAINS = 3
ASPECTS = 0.6


def fresh_since(queries: Sequence[Query], now: datetime | None = None) -> datetime | None:
    """Return the earliest fetch time fresh enough for all queries, or None: use no stored page."""
    wanted: set[Freshness] = {freshness_of(query) for query in queries}
    days: dict[Freshness, float] = {"any": KEPT_DAYS, "recent": RECENT_HOURS / 24, "now": 0.0}
    allowed = min((days[freshness] for freshness in wanted), default=0.0)
    return (now or today()) - timedelta(days=allowed) if allowed else None


def subject(question: str) -> str:
    """Remove words such as "how many" from a question, because pages need not contain them."""
    count = language(spoken(question)).cues.get("count")
    return count.sub(" ", question) if count else question


def relevant(found: Sequence[Sequence[Recalled]]) -> list[Recalled]:
    """Return the relevant pages found by several searches, best first and without duplicates."""
    best: dict[str, Recalled] = {}
    for one in (one for pages in found for one in pages if one.share >= RELEVANT):
        known = best.setdefault(one.entry.key, one)
        best[one.entry.key] = max(known, one, key=lambda each: each.share)
    return sorted(best.values(), key=lambda each: -each.share)


def enough(found: Sequence[Recalled], task: Task) -> bool:
    """Return whether stored pages can replace a web search (never for surveys or after round 1)."""
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
