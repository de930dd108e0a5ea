"""Record and read run durations, for forecasts and for reserving time before the deadline."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from spadework.deadline import CLOSING_SECONDS
from spadework.errors import SessionError
from spadework.graph.effort.forecast import DIGITS, Took
from spadework.sessions.metrics.session_index import METADATA, Drawn, View, view_sessions
from spadework.sessions.storage.files import Metadata, read_metadata
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import write_atomically

FILE = "endings.json"
ENDINGS = ("writing", "closing", "leaving")
#: `KEPT`: the number of latest runs whose durations are kept. `ENOUGH`: see `reserve`.
KEPT, ENOUGH = 20, 5
SAFETY, LEAST_SECONDS, MOST_SECONDS = 1.25, 0.5, 10.0


def reserve(home: Path) -> float:
    """Return how many seconds to reserve before the deadline for a run's final steps. Until ENOUGH
    runs are recorded, reserve at least CLOSING_SECONDS.
    """
    known = _load_known(home)
    # Take the second-longest time of each step, so that an outlier has no effect.
    slow = (sorted(each)[-2] if len(each) > 1 else sum(each) for each in known.values())
    taken = SAFETY * sum(slow)
    few = len(known["closing"]) < ENOUGH
    return min(MOST_SECONDS, max(CLOSING_SECONDS if few else LEAST_SECONDS, taken))


def took(home: Path, **seconds: float) -> None:
    """Record how many seconds a run's final steps took (see ENDINGS). Write errors are ignored."""
    known = _load_known(home)
    for end, each in seconds.items():
        known[end] = [*known[end], round(each, 3)][-KEPT:]
    with suppress(OSError):
        write_atomically((home / FILE), json.dumps(known).encode())


def _load_known(home: Path) -> dict[str, list[float]]:
    found: object = None
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads((home / FILE).read_bytes())
    given = found if isinstance(found, dict) else {}
    return {end: _seconds(given.get(end)) for end in ENDINGS}


def _seconds(found: object) -> list[float]:
    listed = found if isinstance(found, list) else []
    return [float(each) for each in listed if isinstance(each, int | float) and 0 <= each < 3_600]


#: Maximum number of sessions to read, newest first, and maximum seconds for reading them.
NEWEST, SECONDS = 600, 1.0
#: Forecasts use only runs that ended with one of these statuses. Runs stopped by their user do not
#: show how long runs take.
_OVER = ("completed", "time_limited", "budget_limited")


async def experience(home: Path) -> list[Took]:
    """Return what finished runs used, newest first, or [] if the disk is slow or fails."""
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(SECONDS):
            return await on_disk(took_before, home)
    return []


def took_before(home: Path) -> list[Took]:
    """Read from disk what finished runs used, such as seconds and tokens, newest first."""
    newest = islice(view_sessions(home, _VIEW, lambda text: None), NEWEST)
    return [Took(*value) for _, value in newest if value]


def actual(found: Metadata) -> dict[str, float]:
    """Return the known amounts that a finished run used, keyed by their names in DIGITS."""
    used = found.performance_metrics
    told: dict[str, Any] = {
        "rounds": used.get("iterations"),
        "searches": used.get("searches"),
        "pages": used.get("pages"),
        "calls": used.get("model_calls"),
        "tokens": _sum(used.get("tokens_in"), used.get("tokens_out")),
        "seconds": used.get("total"),
        "money": used.get("money"),
    }
    return {name: told[name] for name in DIGITS if isinstance(told[name], int | float)}


def _sum(*parts: Any) -> float | None:
    return sum(parts) if all(isinstance(part, int | float) for part in parts) else None


def _draw(folder: Path) -> Drawn:
    try:
        found = read_metadata(folder)
    except SessionError:
        return Drawn([], kept=False)
    made = found.forecast
    if made is None or found.status not in _OVER:
        return Drawn([])
    return Drawn([made.kind, made.machine, actual(found)])


_VIEW = View("took", (METADATA,), _draw)
