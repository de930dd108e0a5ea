"""Pages for a knowledge store, and what every store must do, whatever is behind it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from spadework.tools.knowledge import Entry
from spadework.tools.pages import content_hash
from spadework.values import Page

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def entry(url: str, text: str, *, title: str = "", days: float = 0, own: bool = False) -> Entry:
    """A page that was fetched so many days before NOW."""
    fetched = NOW - timedelta(days=days)
    return Entry(Page(url=url, title=title, fetched_at=fetched, content_hash=content_hash(text), chars=len(text)), text, own)


CENSUS = entry("https://news.example.org/census", "# Census\n\nThe census of Port Aldermere counted 48,210 inhabitants.", title="Census")
FERRY = entry("https://www.ferry.example/", "# Ferry\n\nThe ferry of Port Aldermere carries 212 passengers.", title="The ferry", days=3)
HARBOUR = entry("https://docs.example.org/harbour", "# Harbour\n\nThe harbour was dredged in 1932.", title="Harbour works", days=30)
ALL = [CENSUS, FERRY, HARBOUR]
