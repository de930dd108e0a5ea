"""Statistics of all sessions: results, costs and alerts."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from spadework.events import Called, Event, Finished, Read, Searched, Unanswered
from spadework.sessions.metrics.session_figures import Figures, figures_of, found_alerts
from spadework.sessions.metrics.session_index import Drawn, View, view_sessions
from spadework.sessions.record.course import Course
from spadework.sessions.storage.files import LOG, METADATA, RESULT, Metadata
from spadework.settings import Role
from spadework.values import Result

MOST_ALERTS = 50


@dataclass(frozen=True, slots=True)
class Statistics:
    """All sessions' figures, newest first, and the newest alerts. `alerted` counts the sessions
    with alerts.
    """

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
    """Return the statistics of all finished sessions, with an alert for each unreadable one.
    `notify` receives a message if that takes long.
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
    from spadework.sessions.metrics.session_figures import draw

    return draw(folder)


_VIEW = View("figures", (METADATA, RESULT, LOG), _draw)


_ROLES = frozenset(get_args(Role))
#: Values of `Result.stopped_by` that name a limit.
LIMITS = frozenset({"time", "calls", "searches", "pages", "tokens", "money"})


class Tally:
    """Counts model calls by role, searches, pages and sessions by outcome, refused questions, and
    alerts.
    """

    def __init__(self) -> None:
        self.calls = Counter[tuple[str, str]]()
        self.tokens = Counter[tuple[str, str]]()
        self.dollars = defaultdict[str, float](float)
        self.seconds = defaultdict[str, float](float)
        self.searches = Counter[str]()
        self.pages = Counter[str]()
        self.ended = Counter[str]()
        self.limited = Counter[str]()
        self.refused = Counter[str]()
        self.alerts = Counter[str]()

    @contextmanager
    def counted(self) -> Iterator[Callable[[Event], None]]:
        """Yield a function that counts a run's events. Without a result, the run counts as
        `stopped` or `broken`.
        """
        how = "stopped"

        def count(event: Event) -> None:
            nonlocal how
            self.saw(event)
            how = "" if isinstance(event, Finished) else how

        try:
            yield count
        except asyncio.CancelledError:
            raise
        except BaseException:
            how = how and "broken"
            raise
        finally:
            if how:
                self.ended[how] += 1

    def saw(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Called):
            self._called(event)
        elif isinstance(event, Searched):
            self.searches["answered"] += 1
        elif isinstance(event, Unanswered):
            self.searches["unanswered"] += 1
        elif isinstance(event, Read):
            self.pages["unread" if event.reason else "known" if event.known else "read"] += 1
        elif isinstance(event, Finished):
            self.ended[event.result.status] += 1
            if event.result.stopped_by in LIMITS:
                self.limited[event.result.stopped_by] += 1

    def look_at(self, metadata: Metadata, result: Result, course: Course) -> None:
        """Count the alerts of a finished run."""
        figures = figures_of(metadata, result, course)
        self.alerts.update(about for about, _ in found_alerts(figures))

    def _called(self, event: Called) -> None:
        role = event.role if event.role in _ROLES else "other"
        self.calls[role, event.verdict] += 1
        self.tokens[role, "in"] += event.tokens_in
        self.tokens[role, "out"] += event.tokens_out
        self.dollars[role] += event.money or 0.0
        self.seconds[role] += event.seconds or 0.0


TALLY = Tally()
