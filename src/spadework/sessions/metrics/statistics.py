"""Results, costs and alerts of all sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spadework.sessions.metrics.session_figures import Figures
from spadework.sessions.metrics.session_index import (
    LOG,
    METADATA,
    RESULT,
    Drawn,
    View,
    view_sessions,
)

MOST_ALERTS = 50


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sessions' figures (newest first), the newest alerts, and how many sessions have alerts."""

    sessions: Sequence[Figures] = ()
    alerts: Sequence[str] = ()
    alerted: int = 0

    def as_json(self) -> str:
        """Return the statistics as one JSON object."""
        return json.dumps(
            {
                "sessions": [f._asdict() for f in self.sessions],
                "alerts": list(self.alerts),
                "alerted": self.alerted,
            },
            ensure_ascii=False,
        )


def statistics(home: Path, notify: Callable[[str], None] | None = None) -> Statistics:
    """Return the statistics of all finished sessions, with alerts for unreadable sessions. If this
    takes long, `notify` receives a message.
    """
    sessions: list[Figures] = []
    alerts: list[str] = []
    broken: list[str] = []
    alerted = 0
    for _, value in view_sessions(home, _VIEW, notify):
        if isinstance(value, str):
            broken.append(value)
            continue
        figures, to_look_at = value
        sessions.append(Figures._make(figures))
        if to_look_at:
            alerted += 1
            alerts += to_look_at
    return Statistics(
        sessions=sessions,
        alerts=[*alerts[:MOST_ALERTS], *broken[:MOST_ALERTS]],
        alerted=alerted + len(broken),
    )


def _draw(folder: Path) -> Drawn:
    from spadework.sessions.record.course import draw

    return draw(folder)


_VIEW = View("figures", (METADATA, RESULT, LOG), _draw)
