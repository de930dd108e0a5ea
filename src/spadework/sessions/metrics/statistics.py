"""Statistics of all sessions: results, costs, sources of evidence, and alerts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spadework.sessions.metrics.session_figures import Figures, Gain, Worth
from spadework.sessions.metrics.session_index import Drawn, View, view_sessions
from spadework.sessions.storage.session_file import LOG, METADATA, RESULT

MOST_ALERTS = 50


@dataclass(frozen=True, slots=True)
class Statistics:
    """All sessions' figures, newest first, the contributions of providers, kinds of query and
    rounds, each session's rounds, and the newest alerts. `alerted` counts the sessions with alerts.
    """

    sessions: Sequence[Figures] = ()
    worth: Sequence[Worth] = ()
    rounds: Sequence[tuple[str, Sequence[Sequence[Any]]]] = ()
    alerts: Sequence[str] = ()
    alerted: int = 0

    def brought(self, by: str) -> list[Worth]:
        """Return the contributions by "provider", "kind" (of query) or "round"."""
        return [worth for worth in self.worth if worth.by == by]

    def gains(self, newest: int | None = None) -> list[Gain]:
        """Return the rounds of all sessions, or of the `newest`."""
        shown = self.rounds if newest is None else self.rounds[:newest]
        return [Gain(id_, *gained) for id_, rounds in shown for gained in rounds]

    def as_json(self) -> str:
        """Return the statistics as one JSON object."""
        return json.dumps(
            {
                "sessions": [f._asdict() for f in self.sessions],
                "providers": [worth._asdict() for worth in self.brought("provider")],
                "kinds": [worth._asdict() for worth in self.brought("kind")],
                "rounds": [worth._asdict() for worth in self.brought("round")],
                "gains": [gain._asdict() for gain in self.gains()],
                "alerts": list(self.alerts),
                "alerted": self.alerted,
            },
            ensure_ascii=False,
        )


def statistics(home: Path, notify: Callable[[str], None] | None = None) -> Statistics:
    """Return the statistics of all finished sessions, with an alert for each unreadable one.
    `notify` receives a message if that takes long.
    """
    sessions: list[Figures] = []
    worth: dict[tuple[str, str], list[int]] = {}
    rounds: list[tuple[str, list[list[Any]]]] = []
    alerts: list[str] = []
    broken: list[str] = []
    alerted = 0
    for id_, value in view_sessions(home, _VIEW, notify):
        if isinstance(value, str):
            broken.append(value)
            continue
        figures, to_look_at, brought, gained = value
        sessions.append(Figures._make(figures))
        if to_look_at:
            alerted += 1
            alerts += to_look_at
        _add(worth, brought)
        rounds.append((id_, gained))
    return Statistics(
        sessions=sessions,
        worth=sorted(
            (Worth(*name, *counts) for name, counts in worth.items()),
            key=lambda w: (w.by, -w.cited, -w.evidence, w.name),
        ),
        rounds=rounds,
        alerts=[*alerts[:MOST_ALERTS], *broken[:MOST_ALERTS]],
        alerted=alerted + len(broken),
    )


def _add(worth: dict[tuple[str, str], list[int]], brought: Iterable[list[Any]]) -> None:
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
    from spadework.sessions.metrics.figures import draw

    return draw(folder)


_VIEW = View("figures", (METADATA, RESULT, LOG), _draw)
