"""What the runs of this home took, for the forecast of the next one and for its end."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from spadework.deadline import CLOSING_SECONDS
from spadework.errors import SessionError
from spadework.graph.effort.experience import GRAINS, Took
from spadework.sessions.metrics.session_index import Drawn, View, view_sessions
from spadework.sessions.storage.files import Metadata, read_metadata
from spadework.sessions.storage.session_file import METADATA
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically

FILE = "endings.json"
#: What a run does after it has been told to end.
ENDINGS = ("writing", "closing", "leaving")
#: Of how many runs it is known what they took, and from how many on less than CLOSING_SECONDS is
#: kept.
KEPT, ENOUGH = 20, 5
#: So many times what the slow ones of them took is kept; this much at least, and at most.
SAFETY, LEAST_SECONDS, MOST_SECONDS = 1.25, 0.5, 10.0


def reserve(home: Path) -> float:
    """Seconds to keep before the deadline: CLOSING_SECONDS until enough is known."""
    known = _load_known(home)
    # The slowest but one, so that one accident is not paid for by all that come after.
    slow = (sorted(each)[-2] if len(each) > 1 else sum(each) for each in known.values())
    taken = SAFETY * sum(slow)
    few = len(known["closing"]) < ENOUGH
    return min(MOST_SECONDS, max(CLOSING_SECONDS if few else LEAST_SECONDS, taken))


def took(home: Path, **seconds: float) -> None:
    """Remember the seconds that ENDINGS of a run took, if the home can be written to."""
    known = _load_known(home)
    for end, each in seconds.items():
        known[end] = [*known[end], round(each, 3)][-KEPT:]
    with suppress(OSError):
        write_atomically((home / FILE), json.dumps(known).encode())


def _load_known(home: Path) -> dict[str, list[float]]:
    """What is known, as far as it can be read."""
    found: object = None
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads((home / FILE).read_bytes())
    given = found if isinstance(found, dict) else {}
    return {end: _seconds(given.get(end)) for end in ENDINGS}


def _seconds(found: object) -> list[float]:
    listed = found if isinstance(found, list) else []
    return [float(each) for each in listed if isinstance(each, int | float) and 0 <= each < 3_600]


#: The newest sessions that are looked through, and how long that may take: it is no reason to keep
#: a question waiting.
NEWEST, SECONDS = 600, 1.0
#: Runs that ended by themselves or at a ceiling; how long a user lets one go on says nothing.
_OVER = ("completed", "time_limited", "budget_limited")


async def experience(home: Path) -> list[Took]:
    """The runs that are over, newest first; none where the disk does not tell in time."""
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(SECONDS):
            return await on_disk(took_before, home)
    return []


def took_before(home: Path) -> list[Took]:
    """The same, now."""
    # Who has asked a question is not told of an index.
    newest = islice(view_sessions(home, _VIEW, lambda text: None), NEWEST)
    return [Took(*value) for _, value in newest if value]


def actual(found: Metadata) -> dict[str, float]:
    """What a finished run took, by the names of GRAINS, as far as it is known."""
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
    return {name: told[name] for name in GRAINS if isinstance(told[name], int | float)}


def _sum(*parts: Any) -> float | None:
    return sum(parts) if all(isinstance(part, int | float) for part in parts) else None


def _draw(folder: Path) -> Drawn:
    """A run with its forecast; an empty list for one that has none, or is not over."""
    try:
        found = read_metadata(folder)
    except SessionError:
        return Drawn([], kept=False)
    made = found.forecast
    if made is None or found.status not in _OVER:
        return Drawn([])
    return Drawn([made.kind, made.machine, made.reckoned, actual(found)])


_VIEW = View("took", (METADATA,), _draw)
