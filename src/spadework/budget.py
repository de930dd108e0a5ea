"""The limit of a run, apart from its deadline.

Every model call, search and page is charged before it starts. A share of model costs is reserved
for closing the run: writing, checking and repair. Exhaustion raises BudgetSpent: write with the
evidence so far.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from typing import Literal, NoReturn

from spadework.bill import Amounts, Bill, meter_bill
from spadework.deadline import AGAIN, WITH_MODEL, Deadline
from spadework.errors import BudgetSpent, SettingsError
from spadework.holds import Free, Hold, HoldRequest, SharedLimit, hold_share, paid_by
from spadework.settings import Settings
from spadework.values import Usage

Limit = Literal["calls", "searches", "pages", "tokens", "money"]


@dataclass(frozen=True)
class Limits:
    """The limits of a run; see the settings of the same names."""

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


class Budget(Deadline):
    """The deadline and limits of one run. `started` is a `time.monotonic` time."""

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
        super().__init__(self.limits.minutes * 60)
        self.used = Usage()
        #: The first limit that was exhausted, or "".
        self.refused = ""
        #: Usage since the last recorded answer, belonging to none.
        self.loose = Bill()
        #: Dollars spent at known prices, reservations of running model calls, and waiters for their
        #: settlement.
        self._money = 0.0
        self._holds: list[Hold] = []
        #: The shared limit of the user's runs, if any.
        self.shared: SharedLimit | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        #: When writing began and what was spent by then; what is reserved for rewriting.
        self._began: tuple[float, dict[Limit, float]] | None = None
        self._again: dict[Limit, float] = {}
        #: Spent on closing before the writing: the model's examination. The reserve is a share of
        #: the rest; otherwise an expensive one leaves too little for judging.
        self.early: dict[Limit, float] = {}

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """Return the settings' budget, with its clock started."""
        return cls(**{limit.name: getattr(settings, limit.name) for limit in fields(Limits)})

    def start(self, at: float, used: Usage | None = None) -> None:
        """Set the clock to `at` (time.monotonic) and the usage to what was `used` before."""
        self.started = at
        self.used = used or self.used
        self._money = self.used.money or 0.0

    def metered(self) -> AbstractContextManager[Bill]:
        """Open a bill for the usage inside; if not `kept` at the end, it is loose."""
        return meter_bill(self.loose)

    def writes(self) -> None:
        """Record that writing of the report begins."""
        self.writing = True
        self._began = self.elapsed(), {limit: self._paid(limit) for limit in _HELD_BACK}

    def wrote(self) -> None:
        """Record that the report is written and checked, and reserve a share of its cost for
        rewriting.
        """
        if self._began is not None:
            at, before = self._began
            self.written = self.elapsed() - at
            self._again = {p: AGAIN * (self._paid(p) - paid) for p, paid in before.items()}

    def charge(self, limit: Limit, amount: float = 1) -> None:
        """Charge `amount` in advance. Raises BudgetSpent, and then charges nothing."""
        if self.spent(limit) + amount > getattr(self.limits, limit):
            self._refuse(limit)
        self.add(**{_FIELD[limit]: int(amount)})

    def add(self, **amounts: float) -> None:
        """Record usage, by field names of Usage."""
        self.loose.current.add(amounts)
        self.used = self.used.model_copy(
            update={
                n: getattr(self.used, n) + amount
                for n, amount in amounts.items()
                if getattr(self.used, n) is not None
            }
        )

    def repeat(self, used: Amounts, elapsed: float) -> None:
        """Record the usage and time of a replayed answer; limits do not apply."""
        self.replayed = max(self.replayed or 0.0, elapsed)
        self._money += used.get("money", 0.0) or 0.0
        known = used.get("money", 0.0) is not None and self.used.money is not None
        self.used = self.used.model_copy(update={"money": round(self._money, 6) if known else None})
        self.add(**{name: amount for name, amount in used.items() if name != "money" and amount})

    async def hold(self, wish: HoldRequest, *, until: float) -> Hold:
        """Charge a model call and reserve its maximum cost, waiting for other calls to settle until
        `until` (`time.monotonic`).

        Raises BudgetSpent, and then charges nothing.
        """
        own = wish.closing
        while True:
            free = await self._now_free(wish)
            if self.spent("calls") + 1 > self._open("calls", closing=own):
                self._refuse("calls")
            if hold := hold_share(wish, free, alone=not self._holds):
                break
            hopeless = hold_share(wish, self._free(closing=own, settled=True), alone=True) is None
            if hopeless or not await self._settlement(until):
                poor = paid_by(wish, free.money) < free.tokens - wish.told
                self._refuse("money" if poor else "tokens")
        self.charge("calls")
        self._holds.append(hold)
        if self.shared:
            self.shared.take(hold)
        return hold

    def settle(self, hold: Hold, *, used: tuple[int, int], price: float | None) -> None:
        """Release a reservation and record the real cost; without a price, money becomes
        unknown.
        """
        self._holds.remove(hold)
        if self.shared:
            self.shared.settle(hold, sum(used), price or 0.0)
        self._money += price or 0.0
        known = None if price is None or self.used.money is None else round(self._money, 6)
        self.used = self.used.model_copy(update={"money": known})
        self.loose.current.add({"money": price})
        self.add(tokens_in=used[0], tokens_out=used[1])
        if hold.closing and self._began is None:
            took: dict[Limit, float] = {"calls": 1, "tokens": sum(used), "money": price or 0.0}
            self.early = {p: self.early.get(p, 0.0) + took[p] for p in _HELD_BACK}
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def _now_free(self, wish: HoldRequest) -> Free:
        """Return what a call may reserve, after refreshing the shared limit."""
        if self.shared:
            await self.shared.refresh(wish)
        return self._free(closing=wish.closing)

    async def _settlement(self, until: float) -> bool:
        """Wait for a running call to settle; return whether one did in time."""
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

    def draw_on(self, shared: SharedLimit) -> None:
        """Limit the run to the rest of a shared limit, part of it reserved for closing."""
        left = shared.free()
        tokens = min(self.limits.tokens, self.spent("tokens") + max(0.0, left.tokens))
        money = min(self.limits.money, self._money + max(0.0, left.money))
        self.limits = replace(self.limits, tokens=int(tokens), money=money)
        self.shared = shared

    def _free(self, *, closing: bool, settled: bool = False) -> Free:
        """Return what a call may reserve under both limits, without waiting for other runs'
        calls.
        """
        own = self.free(closing=closing, settled=settled)
        if self.shared is None:
            return own
        other = self.shared.free(settled=settled and bool(self._holds))
        return Free(min(own.tokens, other.tokens), min(own.money, other.money))

    def free(self, *, closing: bool = False, settled: bool = False) -> Free:
        """Return what a call may still reserve; `settled`: as if no calls were running."""
        under_way = () if settled else self._holds
        tokens = self._open("tokens", closing=closing) - self.spent("tokens")
        money = self._open("money", closing=closing) - self._money
        return Free(
            tokens - sum(hold.tokens for hold in under_way),
            money - sum(hold.money for hold in under_way),
        )

    def _open(self, limit: Limit, *, closing: bool = False) -> float:
        ceiling: float = getattr(self.limits, limit)
        if closing or limit not in _HELD_BACK:
            return ceiling
        # Quick effort saves time for writing, not its cost.
        share = WITH_MODEL["write"] * (ceiling - self.early.get(limit, 0.0))
        kept = min(share, self._again.get(limit, ceiling))
        return ceiling - (math.ceil(kept) if limit == "calls" else kept)

    def _paid(self, limit: Limit) -> float:
        return self._money if limit == "money" else self.spent(limit)

    def _refuse(self, limit: Limit) -> NoReturn:
        self.refused = self.refused or limit
        raise BudgetSpent(limit)

    def spent(self, limit: Limit) -> float:
        """Return the amount used of a limit."""
        if limit == "tokens":
            return self.used.tokens_in + self.used.tokens_out
        return float(getattr(self.used, _FIELD[limit]) or 0)

    def ended_by(self) -> str:
        """Return the exhausted limit ("time", …), or "" if more is left than closing needs."""
        if self.reckoned("plan") <= 0:
            return "time"
        return next((p for p in _LIMITS if 0 < self.spent(p) >= self._open(p)), "")


_FIELD: dict[Limit, str] = {
    "calls": "model_calls",
    "searches": "searches",
    "pages": "pages",
    "tokens": "tokens_in",
    "money": "money",
}
_HELD_BACK: tuple[Limit, ...] = ("calls", "tokens", "money")
_LIMITS: tuple[Limit, ...] = ("calls", "searches", "pages", "tokens", "money")
