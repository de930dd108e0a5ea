"""What the runs of this home took beside what was foreseen, for the forecast of the next one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from spadework.errors import SessionError
from spadework.graph.experience import GRAINS, Took
from spadework.sessions.file_names import METADATA
from spadework.sessions.files import Metadata, read_metadata
from spadework.sessions.session_index import Drawn, View, view_sessions
from spadework.tools.stores.disk import on_disk

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
