"""A page that is known from earlier sessions, and whether known pages answer a question."""

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

#: A shorter page tells too little to be kept.
LEAST_CHARS = 200
#: Where recent pages are wanted, those that were fetched so many hours ago are too old.
RECENT_HOURS = 12


@dataclass(frozen=True)
class Entry:
    """A page with its Markdown. `own`: of a host only its owner may visit (`allow_hosts`)."""

    page: Page
    text: str
    own: bool = False

    @classmethod
    def unpacked(cls, record: str, packed: bytes, own: int) -> Self:
        """The entry of a row: its page as JSON, its text packed."""
        text = zstandard.decompress(packed).decode()
        return cls(Page.model_validate_json(record), text, bool(own))

    @property
    def key(self) -> str:
        """The address that all spellings of the page's URL share."""
        return canonical_url(self.page.url)


@dataclass(frozen=True)
class Recalled:
    """A page that fits a question, and the merged `passages` that do, best first. `share` is how
    much of the question is in its best passage or title, 0..1; less for few words.
    """

    entry: Entry
    snippet: str
    share: float
    passages: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Which:
    """Pages at these addresses or of these hosts (none named: all), fetched `before` then."""

    named: tuple[str, ...] = ()
    before: datetime | None = None

    @property
    def urls(self) -> list[str]:
        """The addresses, as `Entry.key` has them."""
        return [canonical_url(name) for name in self.named if "://" in name]

    @property
    def hosts(self) -> list[str]:
        """The hosts; each stands for those below it, too."""
        hosts = [name.strip().lower() for name in self.named if "://" not in name]
        return [host_of(f"http://{host}").removeprefix("www.") for host in hosts]


def worth_keeping(page: Page) -> bool:
    """Whether a page may be kept: from the web in this run, whole, and it says something."""
    web = page.url.startswith(("http://", "https://")) and page.level >= 0
    whole = page.status == 200 and page.chars >= LEAST_CHARS
    return web and whole and not page.stale and not page.known


def merge_spans(spans: Sequence[tuple[int, int]], gap: int = 2) -> tuple[tuple[int, int], ...]:
    """Stretches of a text in its order, those joined that touch but for `gap` characters."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def condition_of(which: Which, value: str = "?") -> tuple[str, list[object]]:
    """A condition on url, host and fetched_at, and its values; `value` marks each."""
    parts, values = [], list[object]()
    for url in which.urls:
        parts.append(f"url = {value}")
        values.append(url)
    for host in which.hosts:
        # Shorter than what it shall end with, it cannot end with it.
        end = f"substr(host, length(host) - length({value}) + 1)"
        parts.append(f"host = {value} OR {end} = {value}")
        values += [host, f".{host}", f".{host}"]
    condition = f"({' OR '.join(parts)})" if which.named else "TRUE"
    if which.before is not None:
        condition = f"{condition} AND fetched_at < {value}"
        values.append(which.before.timestamp())
    return condition, values


class Knowledge(Protocol):
    """Pages by canonical URL, each in its newest state. Unusable, all raise KnowledgeError."""

    @property
    def describes(self) -> str:
        """Where it is, in words for `doctor` and messages."""
        ...

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """At most `limit` pages fetched since then that fit a question, best first."""
        ...

    async def known(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """The page at a URL, now used; None if unknown or fetched before `since`."""
        ...

    async def add(self, entries: Sequence[Entry]) -> int:
        """Keep pages; newer states replace older. Returns how many are new or newer."""
        ...

    async def forget(self, which: Which) -> int:
        """Remove pages, with every word of them; returns how many."""
        ...

    def pages(self, which: Which) -> AsyncIterator[Page]:
        """The pages that are kept, the newest first."""
        ...

    async def count(self) -> int:
        """How many pages are kept, exactly."""
        ...

    async def close(self) -> None:
        """Give back connections and files."""
        ...


#: A page is about what is asked when so much of what the question needs stands in one passage of it
#: or in its title: the least step of `benchmarks/poison.py` at which no page of an unrelated store
#: is, for any question.
RELEVANT = 0.8
#: Good pages come from so many domains: one site alone never keeps the web out.
DOMAINS = 3
#: Good pages must speak of this share of the aspects that the topic must cover.
ASPECTS = 0.6


def fresh_since(
    queries: Sequence[Query], settings: Settings, now: datetime | None = None
) -> datetime | None:
    """Since when a kept page is fresh enough for queries; None for only the web."""
    wanted: set[Freshness] = {freshness_of(query) for query in queries}
    days: dict[Freshness, float] = {
        "any": settings.knowledge_days,
        "recent": RECENT_HOURS / 24,
        "now": 0.0,
    }
    allowed = min((days[freshness] for freshness in wanted), default=0.0)
    return (now or today()) - timedelta(days=allowed) if allowed else None


def subject(question: str) -> str:
    """A question without what says that it asks for a count: no page must say "how many"."""
    count = language(spoken(question)).cues.get("count")
    return count.sub(" ", question) if count else question


def relevant(found: Sequence[Sequence[Recalled]]) -> list[Recalled]:
    """The pages about what is asked, best first; `found` for the question and its topic."""
    best: dict[str, Recalled] = {}
    for one in (one for pages in found for one in pages if one.share >= RELEVANT):
        known = best.setdefault(one.entry.key, one)
        best[one.entry.key] = max(known, one, key=lambda each: each.share)
    return sorted(best.values(), key=lambda each: -each.share)


def enough(found: Sequence[Recalled], task: Task) -> bool:
    """Whether pages will do for a task. A survey, living of many, and a gap never have enough."""
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
