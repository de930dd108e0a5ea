"""How long runs of this home took to end: to write by code in the last moment, to close what was
open, to leave the process. The next run keeps as much before its deadline.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from spadework.deadline import CLOSING_SECONDS
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
