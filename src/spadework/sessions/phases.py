"""Where the time of a run went, by its record."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.events import Assessed, Event, Planned, Read, Searched, Unanswered
from spadework.sessions.stats import PHASES


def phases_of(events: Sequence[Event], total: float) -> list[float]:
    """Seconds of each of PHASES, which together are the `total`; [] where the record has no times.

    Planning ends with the plan. A round searches and reads until its last page, the time between
    both as the work on them, which goes on side by side; the rest of it is assessing. What comes
    after the last round is writing.
    """
    spent = dict.fromkeys(PHASES, 0.0)
    at, last, searching, reading = 0.0, 0.0, 0.0, 0.0
    timed = [(event, event.after) for event in events if event.after is not None]
    for event, after in timed:
        if isinstance(event, Planned) and not spent["plan"]:
            spent["plan"] = at = last = after
        elif isinstance(event, Searched | Unanswered):
            searching, last = searching + (event.seconds or 0.0), after
        elif isinstance(event, Read):
            reading, last = reading + (event.seconds or 0.0), after
        elif isinstance(event, Assessed):
            share = searching / (searching + reading) if searching + reading else 0.0
            had = max(0.0, last - at)
            spent["search"] += share * had
            spent["read"] += (1 - share) * had
            spent["assess"] += max(0.0, after - max(last, at))
            at, last, searching, reading = after, after, 0.0, 0.0
    spent["write"] = max(0.0, total - at)
    return [round(seconds, 2) for seconds in spent.values()] if timed else []
