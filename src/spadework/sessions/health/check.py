"""A health check: within a timeout, reported in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Literal, TypeVar

from spadework.errors import SpadeworkError
from spadework.tools.stores.disk import DiskHangs
from spadework.values import Value

T = TypeVar("T")
#: works; slow: no response in time; broken; hint: nothing is wrong, but something is worth knowing.
State = Literal["works", "slow", "broken", "hint"]


class Check(Value):
    """One thing that was tried: its state, a sentence, and how to fix it."""

    state: State
    text: str
    hint: str = ""

    @property
    def works(self) -> bool:
        """Whether a run can use it, as far as known."""
        return self.state in ("works", "hint")

    @property
    def line(self) -> str:
        """All of it on one line."""
        end = "" if self.text.endswith((".", "!", "?")) or not self.hint else "."
        return f"{self.text}{end} {self.hint}".rstrip()


async def attempt(name: str, trying: Awaitable[T], seconds: float, hint: str = "") -> T | Check:
    """Return the result of trying something; else why it fails or timed out. `hint` is the fix if
    the error has none.
    """
    try:
        async with asyncio.timeout(seconds):
            return await trying
    except (TimeoutError, DiskHangs):
        within = max(0.1, round(seconds, 1))
        return Check(state="slow", text=f"{name} did not answer within {within:g} s.", hint=hint)
    except SpadeworkError as error:
        return Check(state="broken", text=str(error), hint=error.hint or hint)


async def run_check(
    name: str, trying: Awaitable[str | Check], seconds: float, hint: str = ""
) -> Check:
    """Return a check that words its own success."""
    found = await attempt(name, trying, seconds, hint)
    return found if isinstance(found, Check) else Check(state="works", text=found)
