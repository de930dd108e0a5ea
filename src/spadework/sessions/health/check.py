"""What a check is, and how one is made: in time, and in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Literal, TypeVar

from spadework.errors import SpadeworkError
from spadework.tools.stores.disk import DiskHangs
from spadework.values import Value

T = TypeVar("T")
#: works; slow: it did not answer in time; broken; hint: nothing is wrong, and something is worth
#: knowing.
State = Literal["works", "slow", "broken", "hint"]


class Check(Value):
    """One thing that was tried: how it is, in a sentence, and what would mend it."""

    state: State
    text: str
    hint: str = ""

    @property
    def works(self) -> bool:
        """Whether a run can use it, as far as was seen."""
        return self.state in ("works", "hint")

    @property
    def said(self) -> str:
        """All of it on one line."""
        end = "" if self.text.endswith((".", "!", "?")) or not self.hint else "."
        return f"{self.text}{end} {self.hint}".rstrip()


async def attempt(name: str, trying: Awaitable[T], seconds: float, hint: str = "") -> T | Check:
    """What trying something gives; else why it does not work, or that it did not answer within so
    many seconds. `hint` is the mend where the error names none.
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
    """The check of something that says of itself how it is."""
    found = await attempt(name, trying, seconds, hint)
    return found if isinstance(found, Check) else Check(state="works", text=found)
