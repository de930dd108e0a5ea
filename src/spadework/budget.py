"""Limit what a run uses, except for its time.
Every model call, search and page is charged before it starts. A share of the cost of models is
reserved for writing, checking and repair. BudgetSpent means: write with the evidence so far.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Literal, NamedTuple, NoReturn, Protocol

from spadework.deadline import AGAIN, WITH_MODEL, Deadline
from spadework.errors import BudgetSpent, SettingsError, must_be
from spadework.settings import Settings
from spadework.values import Usage

#: Amounts by fields of Usage; None if a part is unknown.
Amounts = Mapping[str, float | None]

_open: ContextVar[Bill | None] = ContextVar("bill", default=None)


class Bill:
    """Amounts by fields of Usage; `kept` once they are in the journal, or soon will be."""

    def __init__(self) -> None:
        self.amounts: dict[str, float | None] = {}
        self.kept = False

    @property
    def current(self) -> Bill:
        """The bill of the current work, or this one."""
        return _open.get() or self

    def add(self, amounts: Amounts) -> None:
        """Add amounts to the bill."""
        for name, amount in amounts.items():
            before = self.amounts.get(name, 0)
            self.amounts[name] = None if amount is None or before is None else before + amount

    def take(self) -> dict[str, float | None]:
        """Return the amounts and empty the bill."""
        amounts, self.amounts = self.amounts, {}
        return amounts


@contextmanager
def meter_bill(loose: Bill) -> Iterator[Bill]:
    """Open a bill for the work inside; if it is not `kept`, its amounts go to the outer one."""
    outer, bill = loose.current, Bill()
    token = _open.set(bill)
    try:
        yield bill
    finally:
        _open.reset(token)
        if not bill.kept:
            outer.add(bill.amounts)


def total(bills: Iterable[Amounts]) -> Usage:
    """Return the sum of bills."""
    sum_ = Bill()
    for bill in bills:
        sum_.add(bill)
    money = sum_.amounts.pop("money", 0.0)
    whole = {name: int(amount or 0) for name, amount in sum_.amounts.items()}
    return Usage(**whole, money=None if money is None else round(money, 6))


Price = tuple[float, float]

#: Calls that may compete for a limit. An answer gets its maximum room within this fraction of what
#: is free, else the usual one of its role.
AT_ONCE = 16
#: With fewer tokens left for its answer, a call is not made.
LEAST_ROOM = 200


class HoldRequest(NamedTuple):
    """The limits of a model call: `told` tokens for its request, `usual` and `most` for its answer.
    `closing` calls write and check the report, and may use the reserve.
    """

    told: int
    usual: int
    most: int
    price: Price | None = None
    closing: bool = False


class Free(NamedTuple):
    """What is left of two limits."""

    tokens: float
    money: float


class Hold(NamedTuple):
    """What is reserved for a call. `room` are the tokens of its answer, `tokens` all."""

    room: int
    tokens: int
    money: float
    closing: bool = False


class SharedLimit(Protocol):
    """The limit that all runs of a user share."""

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Exchange usage with other machines, and announce a coming call."""

    def free(self, *, settled: bool = False) -> Free:
        """Return what is left; `settled` means as if no call were running."""
        ...

    def take(self, hold: Hold) -> None:
        """Reserve what a call may cost."""

    def settle(self, hold: Hold, tokens: int, money: float) -> None:
        """Release a reservation and charge the cost of the call."""


def cost(price: Price | None, told: int, said: int) -> float:
    """Return the dollars for tokens in and out; 0 if the price is unknown."""
    return (told * price[0] + said * price[1]) / 1_000_000 if price else 0.0


def hold_share(wish: HoldRequest, free: Free, *, alone: bool) -> Hold | None:
    """Return what a call may reserve of the `free` limits, None if there is no room now.
    An answer gets at least its usual size. With less, it gets what there is if no running call
    could release more (`alone`).
    """
    most = min(wish.most, longest(wish, free))
    least = min(LEAST_ROOM, wish.most)
    usual = max(least, min(wish.usual, wish.most))
    if most >= usual:
        share = longest(wish, Free(free.tokens / AT_ONCE, free.money / AT_ONCE))
        room = max(usual, min(most, share))
    elif alone and most >= least:
        room = most
    else:
        return None
    return Hold(room, wish.told + room, cost(wish.price, wish.told, room), wish.closing)


def longest(wish: HoldRequest, free: Free) -> int:
    """Return the tokens of the longest affordable answer, below 0 if the request is not."""
    return int(min(free.tokens - wish.told, paid_by(wish, free.money)))


def paid_by(wish: HoldRequest, money: float) -> int:
    """Return the tokens of the longest answer that the dollars pay for."""
    left = money - cost(wish.price, wish.told, 0)
    if wish.price is None or cost(wish.price, 0, wish.most) <= left:
        return wish.most
    return math.floor(left / wish.price[1] * 1_000_000) if wish.price[1] and left > 0 else -1


Limit = Literal["calls", "searches", "pages", "tokens", "money"]


@dataclass(frozen=True)
class Limits:
    """The limits of a run; see the settings of these names."""

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
                wanted = "greater than 0" if name == "minutes" else "0 or more"
                raise SettingsError(must_be(name, wanted, value))


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
        #: Usage that belongs to no answer yet.
        self.loose = Bill()
        #: Dollars spent, as far as prices are known.
        self._money = 0.0
        self._holds: list[Hold] = []
        self.shared: SharedLimit | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        #: When writing began, and what was spent by then.
        self._began: tuple[float, dict[Limit, float]] | None = None
        #: What is reserved for rewriting.
        self._again: dict[Limit, float] = {}
        #: Spent on closing before the writing, for the model's examination. The reserve is a share
        #: of the rest: an expensive examination would leave too little for judging.
        self.early: dict[Limit, float] = {}

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """Return the budget of the settings, with its clock started."""
        return cls(**{limit.name: getattr(settings, limit.name) for limit in fields(Limits)})

    def start(self, at: float, used: Usage | None = None) -> None:
        """Set the start to `at` (time.monotonic) and the usage to `used`."""
        self.started = at
        self.used = used or self.used
        self._money = self.used.money or 0.0

    def metered(self) -> AbstractContextManager[Bill]:
        """Open a bill for the usage inside; if it is not `kept`, the usage stays loose."""
        return meter_bill(self.loose)

    def writes(self) -> None:
        """Record that the writing of the report begins."""
        self.writing = True
        self._began = self.elapsed(), {limit: self._paid(limit) for limit in _HELD_BACK}

    def wrote(self) -> None:
        """Record that the report is finished; reserve a share of its cost for rewriting."""
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
        """Record usage by fields of Usage."""
        self.loose.current.add(amounts)
        self.used = self.used.model_copy(
            update={
                n: getattr(self.used, n) + amount
                for n, amount in amounts.items()
                if getattr(self.used, n) is not None
            }
        )

    def repeat(self, used: Amounts, elapsed: float) -> None:
        """Record the usage and time of a replayed answer, whatever the limits."""
        self.replayed = max(self.replayed or 0.0, elapsed)
        self._money += used.get("money", 0.0) or 0.0
        known = used.get("money", 0.0) is not None and self.used.money is not None
        self.used = self.used.model_copy(update={"money": round(self._money, 6) if known else None})
        self.add(**{name: amount for name, amount in used.items() if name != "money" and amount})

    async def hold(self, wish: HoldRequest, *, until: float) -> Hold:
        """Charge a model call and reserve its maximum cost; wait for others to settle if need be.
        `until` is a `time.monotonic` time. Raises BudgetSpent, and then charges nothing.
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
        """Release a reservation and record the real cost, which is unknown if `price` is None."""
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
        if self.shared:
            await self.shared.refresh(wish)
        return self._free(closing=wish.closing)

    async def _settlement(self, until: float) -> bool:
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
        """Limit the run to what is left of a shared limit."""
        left = shared.free()
        tokens = min(self.limits.tokens, self.spent("tokens") + max(0.0, left.tokens))
        money = min(self.limits.money, self._money + max(0.0, left.money))
        self.limits = replace(self.limits, tokens=int(tokens), money=money)
        self.shared = shared

    def _free(self, *, closing: bool, settled: bool = False) -> Free:
        """Return what a call may reserve under both limits.
        Other runs' calls count as settled only while this run has calls too.
        """
        own = self.free(closing=closing, settled=settled)
        if self.shared is None:
            return own
        other = self.shared.free(settled=settled and bool(self._holds))
        return Free(min(own.tokens, other.tokens), min(own.money, other.money))

    def free(self, *, closing: bool = False, settled: bool = False) -> Free:
        """Return what a call may still reserve; `settled` means as if no call were running."""
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
