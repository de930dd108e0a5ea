"""The figures of a session, of which statistics are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: The phases of a run, in their order; see `spadework.sessions.drawing.phases`. They overlap, since
#: topics are worked on side by side. Before the first of them the process starts.
PHASES = ("start", "plan", "search", "read", "assess", "write")


class Worth(NamedTuple):
    """What one provider, kind of query or round (`by`) brought: searches, hits, quotes, those of
    them on which the report rests, and of these the ones that nothing else of its sort has found.
    """

    by: str
    name: str
    searches: int = 0
    hits: int = 0
    evidence: int = 0
    cited: int = 0
    alone: int = 0


class Gain(NamedTuple):
    """One round of a session: mean coverage score (0..1) before and after it, the evidence it
    added, how much of that is in the report, and the quality (0..10) in the end.

    `quality` is None where no model has rated it.
    """

    session_id: str
    round: int
    before: float
    after: float
    evidence: int
    cited: int
    quality: float | None = None


class Figures(NamedTuple):
    """What one session gave and cost. `seconds_limit` is the time it was given; `money` None where
    a price was not known; `requests` are searches and pages, also those that were known.

    `phases` are the seconds of PHASES, `foreseen` is low, median (or None) and high of the seconds
    that were foreseen and the runs this rests on; both [] where they are not known.
    """

    session_id: str
    follows: str
    question: str
    created_at: str
    status: str
    mode: str
    seconds: float
    seconds_limit: float
    covered: int
    topics: int
    evidence: int
    cited: int
    searches: int
    search_errors: int
    pages: int
    pages_read: int
    pages_tried: int
    model_calls: int
    model_errors: int
    too_long: int
    tokens: int
    money: float | None
    cache_hits: int
    requests: int
    phases: Sequence[float]
    foreseen: Sequence[Any]
