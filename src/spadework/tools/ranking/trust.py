"""Trust in a source, in four parts that are shown with it (S5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from spadework.clock import today
from spadework.tools.web.urls import domain_of
from spadework.values import Evidence, Page

WEIGHTS = {"authority": 0.4, "consistency": 0.3, "publisher": 0.2, "recency": 0.1}
#: Prior authority by domain suffix; others are in the middle.
PRIORS = {".gov": 0.9, ".edu": 0.85, ".ac.uk": 0.85, ".int": 0.85, ".mil": 0.8, ".org": 0.6}
MIDDLE = 0.5
#: Share of the missing authority that the page with the highest PageRank gains.
LINKED = 0.6
#: Days after which a dated page has lost half its recency.
HALF_LIFE_DAYS = 730.0


def trust(
    page: Page, ledger: Sequence[Evidence], disputed: Sequence[str], *, now: datetime | None = None
) -> dict[str, float]:
    """Return the parts and their weighted sum "trust", 0..1. `disputed`: ids of contradicted
    evidence.
    """
    prior = domain_prior(page.url)
    own = [e.id for e in ledger if e.url == page.url]
    parts = {
        # Raised towards 1 by links from the other pages read.
        "authority": prior + LINKED * page.linked * (1 - prior),
        # The undisputed share; the middle if there is no evidence.
        "consistency": sum(id_ not in disputed for id_ in own) / len(own) if own else MIDDLE,
        "publisher": 0.5 + 0.25 * bool(page.title) + 0.25 * bool(page.published_at),
        "recency": _recency(page, now or today()),
    }
    return {name: round(value, 3) for name, value in parts.items()} | {
        "trust": round(sum(WEIGHTS[n] * v for n, v in parts.items()), 3)
    }


def domain_prior(url: str) -> float:
    """Return a URL's authority by its domain suffix alone, 0..1."""
    domain = domain_of(url)
    return next((prior for end, prior in PRIORS.items() if domain.endswith(end)), MIDDLE)


def _recency(page: Page, now: datetime) -> float:
    if page.published_at is None:
        return MIDDLE
    day = page.published_at
    days = (now - (day if day.tzinfo else day.replace(tzinfo=UTC))).days
    return math.pow(0.5, max(0.0, days) / HALF_LIFE_DAYS)
