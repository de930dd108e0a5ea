"""What the knowledge store holds, what it answers, and what it is asked to forget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spadework.tools.web.urls import canonical_url, host_of
from spadework.values import Page

#: Longest passage that is indexed, in characters, but for code and tables (S8).
PASSAGE_CHARS = 1_500
#: A shorter page tells too little to be kept.
LEAST_CHARS = 200


@dataclass(frozen=True)
class Entry:
    """A page with its cleaned Markdown. `own`: it is of a host that only its owner may visit
    (`allow_hosts`).
    """

    page: Page
    text: str
    own: bool = False

    @property
    def key(self) -> str:
        """The address that all spellings of the page's URL share."""
        return canonical_url(self.page.url)


@dataclass(frozen=True)
class Recalled:
    """A page that fits a question. `passages` are the stretches of its text that do, best first
    page by page, neighbours merged.

    `share` is how much of what the question needs stands in its best passage or its title, 0..1;
    less where it needs few words.
    """

    entry: Entry
    snippet: str
    share: float
    passages: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Which:
    """Some of the pages: those at these addresses or of these hosts (none named: all), and fetched
    before a moment where one is given.
    """

    named: tuple[str, ...] = ()
    before: datetime | None = None

    @property
    def urls(self) -> list[str]:
        """The addresses, as `Entry.key` has them."""
        return [canonical_url(name) for name in self.named if "://" in name]

    @property
    def hosts(self) -> list[str]:
        """The hosts; each stands for those below it, too."""
        return [
            host_of(f"http://{name.strip().lower()}").removeprefix("www.")
            for name in self.named
            if "://" not in name
        ]


def worth_keeping(page: Page) -> bool:
    """Whether a page may enter the store: it came from the web in this run, whole and now, and says
    something.
    """
    web = page.url.startswith(("http://", "https://")) and page.level >= 0
    return (
        web
        and not page.stale
        and not page.known
        and page.status == 200
        and page.chars >= LEAST_CHARS
    )


def merge_spans(spans: Sequence[tuple[int, int]], gap: int = 2) -> tuple[tuple[int, int], ...]:
    """Stretches of a text in its order, those joined that touch but for `gap` characters."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
