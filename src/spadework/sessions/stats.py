"""Statistics over all sessions, from the index: what they gave and cost, over time; what brought
evidence that is in the reports; how forecasts came out; what should be looked at. Nothing heavy is
imported for what the index knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from spadework.sessions.file_names import LOG, METADATA, RESULT
from spadework.sessions.session_index import Drawn, View, view_sessions
from spadework.sessions.trends import Trend, trends

#: The phases of a run, in their order; see `spadework.sessions.drawing.phases`. They overlap, since
#: topics are worked on side by side. Before the first of them the process starts.
PHASES = ("start", "plan", "search", "read", "assess", "write")
#: Alerts that are told in words, the newest first.
MOST_ALERTS = 50


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

    @property
    def held(self) -> bool | None:
        """Whether the time was within what was foreseen; None where nothing was."""
        if not self.foreseen:
            return None
        return bool(self.foreseen[0] <= self.seconds <= self.foreseen[2])


@dataclass(frozen=True, slots=True)
class Statistics:
    """All of it: sessions newest first; providers, kinds of queries and rounds by the evidence in
    reports that they brought; the rounds of each session; `trends` by day, week or month, oldest
    first, and over `all_of_it`; alerts as sentences, the newest of `alerted` sessions.
    """

    sessions: Sequence[Figures] = ()
    worth: Sequence[Worth] = ()
    rounds: Sequence[tuple[str, Sequence[Sequence[Any]]]] = ()
    trends: Sequence[Trend] = ()
    all_of_it: Trend | None = None
    alerts: Sequence[str] = ()
    alerted: int = 0

    def brought(self, by: str) -> list[Worth]:
        """What each "provider", "kind" of query or "round" has brought (`by`)."""
        return [worth for worth in self.worth if worth.by == by]

    def gains(self, newest: int | None = None) -> list[Gain]:
        """The rounds of the newest sessions, or of all."""
        shown = self.rounds if newest is None else self.rounds[:newest]
        return [Gain(id_, *gained) for id_, rounds in shown for gained in rounds]

    def as_json(self) -> str:
        """All of it as one JSON object."""
        return json.dumps(
            {
                "sessions": [f._asdict() for f in self.sessions],
                "providers": [worth._asdict() for worth in self.brought("provider")],
                "kinds": [worth._asdict() for worth in self.brought("kind")],
                "rounds": [worth._asdict() for worth in self.brought("round")],
                "gains": [gain._asdict() for gain in self.gains()],
                "trends": [trend._asdict() for trend in self.trends],
                "all": self.all_of_it._asdict() if self.all_of_it else None,
                "alerts": list(self.alerts),
                "alerted": self.alerted,
            },
            ensure_ascii=False,
        )


def statistics(home: Path, told: Callable[[str], None] | None = None) -> Statistics:
    """The statistics of all finished sessions under `home`; one whose files cannot be read is
    named by an alert. `told` hears a sentence where the index must be made.
    """
    sessions: list[Figures] = []
    worth: dict[tuple[str, str], list[int]] = {}
    rounds: list[tuple[str, list[list[Any]]]] = []
    alerts: list[str] = []
    broken: list[str] = []
    crossed: set[str] = set()
    for id_, value in view_sessions(home, _VIEW, told):
        if isinstance(value, str):
            broken.append(value)
            continue
        figures, to_look_at, brought, gained = value
        sessions.append(Figures._make(figures))
        if to_look_at:
            crossed.add(id_)
            alerts += to_look_at
        _add(worth, brought)
        rounds.append((id_, gained))
    periods, whole = trends(sessions, crossed, PHASES)
    return Statistics(
        sessions=sessions,
        # By what is in reports of what they brought, then by all of it.
        worth=sorted(
            (Worth(*name, *counts) for name, counts in worth.items()),
            key=lambda w: (w.by, -w.cited, -w.evidence, w.name),
        ),
        rounds=rounds,
        trends=periods,
        all_of_it=whole,
        alerts=[*alerts[:MOST_ALERTS], *broken[:MOST_ALERTS]],
        alerted=len(crossed) + len(broken),
    )


def _add(worth: dict[tuple[str, str], list[int]], brought: Iterable[list[Any]]) -> None:
    """Add what one session's searches have brought."""
    for by, name, searches, hits, evidence, cited, alone in brought:
        sums = worth.get((by, name))
        if sums is None:
            sums = worth[by, name] = [0] * 5
        sums[0] += searches
        sums[1] += hits
        sums[2] += evidence
        sums[3] += cited
        sums[4] += alone


def _draw(folder: Path) -> Drawn:
    from spadework.sessions.figures import draw  # heavy, and only for what has changed

    return draw(folder)


_VIEW = View("figures", (METADATA, RESULT, LOG), _draw)
