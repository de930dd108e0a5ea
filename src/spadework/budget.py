"""One deadline and one purse for a run.

Every wait that leaves the process takes its time limit from here, and every model call, search and
page is charged before it starts. A share of everything is held back for those who close the run:
they write, check and mend. Running out raises BudgetSpent, which means: write with what there is.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NoReturn

from spadework.bill import Amounts, Bill, metered
from spadework.errors import BudgetSpent, SettingsError
from spadework.holds import Free, Hold, Wish, held, paid_by
from spadework.settings import Settings
from spadework.values import Usage

Phase = Literal["plan", "search", "read", "assess", "write"]
Purse = Literal["calls", "searches", "pages", "tokens", "money"]

Shares = Mapping[Phase, float]
#: Share of the whole time, most seconds.
Mark = tuple[float, float]

#: Shares of the whole time (S10). What a phase does not use passes on to those after it; that of
#: writing is held back whatever those before it use, in calls, tokens and money, too.
BY_CODE: Shares = {"plan": 0.05, "search": 0.10, "read": 0.60, "assess": 0.20, "write": 0.05}
WITH_MODEL: Shares = {"plan": 0.05, "search": 0.10, "read": 0.35, "assess": 0.20, "write": 0.30}

#: Below this share of the time (or these seconds, whichever is less) the run narrows: (share, most
#: seconds). Only the best pages are read; fewer passages judged and no new round begun; nothing is
#: searched, read or judged any more.
BEST_ONLY = (0.50, 300.0)
ACCELERATE = (0.40, 240.0)
WRITE_NOW = (0.20, 120.0)

#: Seconds kept at the very end for composing, verifying and saving by code alone, for closing and
#: leaving, where nothing is known of what these take; and the most, as a share of the whole.
CLOSING_SECONDS = 2.0
CLOSING_SHARE = 0.2


@dataclass(frozen=True)
class Limits:
    """The ceilings of a run; see the settings of the same names."""

    minutes: float = 10
    iterations: int = 3
    calls: int = 110
    searches: int = 120
    pages: int = 60
    tokens: int = 1_000_000
    money: float = 5.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 0 or (name == "minutes" and value == 0):
                raise SettingsError(
                    f"{name} cannot be {value}: it must be"
                    f" {'more than 0' if name == 'minutes' else '0 or more'}."
                )


def shares_of(effort: str, *, model: bool) -> Shares:
    """The shares of the phases: a model writes and checks in several steps, but not in haste."""
    return WITH_MODEL if model and effort != "quick" else BY_CODE


class Budget:
    """The deadline and the purse of one run. `started` is on the clock of `time.monotonic`."""

    def __init__(
        self,
        minutes: float = 10,
        *,
        iterations: int = 3,
        calls: int = 110,
        searches: int = 120,
        pages: int = 60,
        tokens: int = 1_000_000,
        money: float = 5.0,
    ) -> None:
        self.limits = Limits(minutes, iterations, calls, searches, pages, tokens, money)
        self.started = time.monotonic()
        #: Seconds that the end of the run is reckoned to take.
        self.reserve = CLOSING_SECONDS
        self.used = Usage()
        #: The purse that first could not pay, or "".
        self.refused = ""
        self.shares: Shares = BY_CODE
        #: What was used since the last answer was written down, and belongs to none.
        self.loose = Bill()
        #: In a replay, the seconds that the recorded run had used by its last answer replayed.
        self.replayed: float | None = None
        #: Dollars spent where the price is known, what model calls under way have set aside, and
        #: who waits for one of them to settle.
        self._money = 0.0
        self._holds: list[Hold] = []
        self._waiting: set[asyncio.Future[None]] = set()
        self._paused_at: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """The budget that the settings state, its clock started now."""
        s = settings
        return cls(
            s.minutes,
            iterations=s.iterations,
            calls=s.calls,
            searches=s.searches,
            pages=s.pages,
            tokens=s.tokens,
            money=s.money,
        )

    @property
    def seconds(self) -> float:
        """The whole time, in seconds."""
        return self.limits.minutes * 60

    def start(self, at: float, used: Usage | None = None) -> None:
        """Set the clock back to `at` (time.monotonic) and the purse to what was `used` before, as
        on a resume.
        """
        self.started = at
        self.used = used or self.used
        self._money = self.used.money or 0.0

    @contextmanager
    def metered(self) -> Iterator[Bill]:
        """What is used inside, as a bill of its own; one that is not `kept` is loose in the end."""
        with metered(self.loose) as bill:
            yield bill

    def pause(self) -> None:
        """Stop the clock while the user is thinking."""
        self._paused_at = self._paused_at or time.monotonic()

    def go_on(self) -> None:
        """Let a paused clock run on."""
        if self._paused_at is not None:
            self.started += time.monotonic() - self._paused_at
            self._paused_at = None

    def elapsed(self) -> float:
        """Seconds since the start, without those of pauses."""
        if self.replayed is not None:
            return self.replayed
        return (self._paused_at or time.monotonic()) - self.started

    def left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self.seconds - self.elapsed())

    def until_closing(self) -> float:
        """Seconds until only closing by code has time."""
        return max(0.0, self.left() - self._kept)

    def closing(self) -> float:
        """Seconds that closing has taken by now of what is kept for it, and beyond."""
        return max(0.0, self.elapsed() - (self.seconds - self._kept))

    @property
    def _kept(self) -> float:
        return min(self.reserve, CLOSING_SHARE * self.seconds)

    def phase(self, *phases: Phase) -> float:
        """Seconds that the given phases together may take from now on, those between them and
        writing keeping their shares, and writing its share of the whole. Nothing but writing takes
        of the time under WRITE_NOW.
        """
        return self.seconds if self.replayed is not None else self.reckoned(*phases)

    def reckoned(self, *phases: Phase) -> float:
        """The same by the clock, also in a replay, which itself waits for nobody."""
        left = self.until_closing()
        order = list(self.shares)
        coming = [name for name in order[order.index(phases[0]) :] if name != "write"]
        if not coming:
            return left
        kept = min(left, self.shares["write"] * self.seconds)
        part = sum(self.shares[name] for name in phases if name != "write")
        before = (left - kept) * part / sum(self.shares[name] for name in coming)
        return before + kept if "write" in phases else min(before, self.until(WRITE_NOW))

    def until(self, mark: Mark) -> float:
        """Seconds until less time is left than `mark`."""
        share, most = mark
        return max(0.0, self.left() - min(share * self.seconds, most))

    def under(self, mark: Mark) -> bool:
        """True when less time is left than `mark`."""
        return self.until(mark) <= 0

    def charge(self, purse: Purse, amount: float = 1) -> None:
        """Take `amount` before the thing is done. Raises BudgetSpent when it is not there, and then
        takes nothing.
        """
        if self.spent(purse) + amount > getattr(self.limits, purse):
            self._refuse(purse)
        self.add(**{_FIELD[purse]: int(amount)})

    def add(self, **amounts: float) -> None:
        """Record what was used, by the field names of Usage."""
        self.loose.current.add(amounts)
        self.used = self.used.model_copy(
            update={
                n: getattr(self.used, n) + amount
                for n, amount in amounts.items()
                if getattr(self.used, n) is not None
            }
        )

    def repeat(self, used: Amounts, elapsed: float) -> None:
        """Record what an answer that is replayed had used, and when it came; no ceiling counts."""
        self.replayed = max(self.replayed or 0.0, elapsed)
        self._money += used.get("money", 0.0) or 0.0
        known = used.get("money", 0.0) is not None and self.used.money is not None
        self.used = self.used.model_copy(update={"money": round(self._money, 6) if known else None})
        self.add(**{name: amount for name, amount in used.items() if name != "money" and amount})

    async def hold(self, wish: Wish, *, until: float) -> Hold:
        """Charge a model call and set aside what it may cost at most. Who finds no room waits for
        others to settle, until a moment on the clock of `time.monotonic`.

        Raises BudgetSpent, and then nothing is taken.
        """
        if self.spent("calls") + 1 > self._open("calls", closing=wish.closing):
            self._refuse("calls")
        own = wish.closing
        while (hold := held(wish, free := self.free(closing=own), alone=not self._holds)) is None:
            hopeless = held(wish, self.free(closing=own, settled=True), alone=True) is None
            if hopeless or not await self._settlement(until):
                poor = paid_by(wish, free.money) < free.tokens - wish.told
                self._refuse("money" if poor else "tokens")
        self.charge("calls")
        self._holds.append(hold)
        return hold

    def settle(self, hold: Hold, *, used: tuple[int, int], price: float | None) -> None:
        """Give back what `hold` set aside, and record what the call really cost. Without a price
        the money is unknown from now on.
        """
        self._holds.remove(hold)
        self._money += price or 0.0
        known = None if price is None or self.used.money is None else round(self._money, 6)
        self.used = self.used.model_copy(update={"money": known})
        self.loose.current.add({"money": price})
        self.add(tokens_in=used[0], tokens_out=used[1])
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def _settlement(self, until: float) -> bool:
        """Wait for a call under way to settle; whether one did in time."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(until - time.monotonic()):
                await waiter
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiter)
        return True

    def free(self, *, closing: bool = False, settled: bool = False) -> Free:
        """What a call may still set aside; `settled`: as if nothing were under way."""
        under_way = () if settled else self._holds
        return Free(
            self._open("tokens", closing=closing)
            - self.spent("tokens")
            - sum(hold.tokens for hold in under_way),
            self._open("money", closing=closing)
            - self._money
            - sum(hold.money for hold in under_way),
        )

    def _open(self, purse: Purse, *, closing: bool = False) -> float:
        """The ceiling of a purse, without what is held back for the closing. Of a few calls that is
        one at least.
        """
        limit: float = getattr(self.limits, purse)
        if closing or purse not in _HELD_BACK:
            return limit
        kept = self.shares["write"] * limit
        return limit - (math.ceil(kept) if purse == "calls" else kept)

    def _refuse(self, purse: Purse) -> NoReturn:
        self.refused = self.refused or purse
        raise BudgetSpent(purse)

    def spent(self, purse: Purse) -> float:
        """What was taken from a purse so far."""
        if purse == "tokens":
            return self.used.tokens_in + self.used.tokens_out
        return float(getattr(self.used, _FIELD[purse]) or 0)

    def ended_by(self) -> str:
        """The ceiling that is reached ("time", "calls", …), or "" while there is something left
        beside what is held back for the closing.
        """
        if self.reckoned("plan") <= 0:
            return "time"
        return next((p for p in _PURSES if 0 < self.spent(p) >= self._open(p)), "")


_FIELD: dict[Purse, str] = {
    "calls": "model_calls",
    "searches": "searches",
    "pages": "pages",
    "tokens": "tokens_in",
    "money": "money",
}
_HELD_BACK: tuple[Purse, ...] = ("calls", "tokens", "money")
_PURSES: tuple[Purse, ...] = ("calls", "searches", "pages", "tokens", "money")
