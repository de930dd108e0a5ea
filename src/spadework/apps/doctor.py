"""`doctor`: what works on this machine, in plain words, each thing tried."""

from __future__ import annotations

import asyncio

from spadework.apps.saying import say
from spadework.sessions.health import probe
from spadework.settings import Settings

_MARKS = {"works": "ok   ", "slow": "slow ", "broken": "wrong", "hint": "note "}


def examine(settings: Settings) -> int:
    """Print a line a check. 0 when all works that the settings use, else 1."""

    async def work() -> bool:  # printed before anything that is still waited for in a thread
        found = await probe(settings)
        for check in found:
            say(f"{_MARKS[check.state]} {check.said}")
        return all(check.works for check in found)

    return 0 if asyncio.run(work()) else 1
