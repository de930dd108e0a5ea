"""Pages for a knowledge store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from spadework.tools.knowledge import Entry
from spadework.tools.text.page_text import content_hash
from spadework.values import Page

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def entry(url: str, text: str, *, title: str = "", days: float = 0, own: bool = False) -> Entry:
    """A page that was fetched so many days before NOW."""
    fetched = NOW - timedelta(days=days)
    return Entry(
        Page(
            url=url,
            title=title,
            fetched_at=fetched,
            content_hash=content_hash(text),
            chars=len(text),
        ),
        text,
        own,
    )


CENSUS = entry(
    "https://news.example.org/census",
    "# Census\n\nThe census of Port Aldermere counted 48,210 inhabitants.",
    title="Census",
)
FERRY = entry(
    "https://www.ferry.example/",
    "# Ferry\n\nThe ferry of Port Aldermere carries 212 passengers.",
    title="The ferry",
    days=3,
)
HARBOUR = entry(
    "https://docs.example.org/harbour",
    "# Harbour\n\nThe harbour was dredged in 1932.",
    title="Harbour works",
    days=30,
)
ALL = [CENSUS, FERRY, HARBOUR]


def ferry(n: int, passengers: int = 212, more: str = "") -> str:
    """A page for the web of the world, long enough to be kept."""
    return (
        f"<title>Ferry passengers {n}</title><article><h1>Ferry passengers {n}</h1><p>The ferry of"
        f" Port Aldermere carries exactly {passengers} passengers, as paper {n} said.</p><p>It"
        " leaves the old pier at every full hour between six in the morning and ten at night, and"
        f" it does not sail in fog, which house number {n} of the harbour street is known"
        f" for.{more}</p></article>"
    )
