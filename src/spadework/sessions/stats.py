"""Statistics over all sessions, from the index: what they gave and cost, over time; what brought
evidence that is in the reports; how forecasts came out; what should be looked at. Nothing heavy is
imported for what the index knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spadework.sessions.file_names import LOG, METADATA, RESULT
from spadework.sessions.session_figures import PHASES, Figures, Gain, Worth
from spadework.sessions.session_index import Drawn, View, view_sessions
from spadework.sessions.trends import Trend, trends

#: Alerts that are told in words, the newest first.
MOST_ALERTS = 50


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
