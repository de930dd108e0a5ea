"""`doctor`: what works on this machine, in plain words, each thing tried."""

from __future__ import annotations

import asyncio

from spadework.apps.saying import say
from spadework.sessions.health import Check, probe
from spadework.settings import Settings

_MARKS = {"works": "ok   ", "slow": "slow ", "broken": "wrong", "hint": "note "}


def examine(settings: Settings) -> int:
    """Print a line a check. 0 when all works that the settings use, else 1."""
    found = asyncio.run(_run_checks(settings))
    return 0 if all(check.works for check in found) else 1


async def _run_checks(settings: Settings) -> list[Check]:
    """The checks, printed before anything that is still waited for in a thread."""
    found = await probe(settings)
    for check in found:
        say(f"{_MARKS[check.state]} {check.said}")
    return found
