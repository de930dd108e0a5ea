"""Enforce a run's limits, except its time limit. Every call, search and page is charged in
advance. If too little is left, BudgetSpent tells the run to write its report.
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

#: Maps `Usage` fields to amounts. An amount is None if part of it is unknown.
Amounts = Mapping[str, float | None]

_open: ContextVar[Bill | None] = ContextVar("bill", default=None)


class Bill:
    """What some work used, by `Usage` field. `kept` is true if the journal has recorded it."""

    def __init__(self) -> None:
        self.amounts: dict[str, float | None] = {}
        self.kept = False

    @property
    def current(self) -> Bill:
        """The bill of the work in progress, or else this bill."""
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
    """Open a bill for the work in this context. At the end, add it to the enclosing bill (`loose`
    if there is none), unless the journal records it (`kept`).
    """
    outer, bill = loose.current, Bill()
    token = _open.set(bill)
    try:
        yield bill
    finally:
        _open.reset(token)
        if not bill.kept:
            outer.add(bill.amounts)


def total(bills: Iterable[Amounts]) -> Usage:
    """Return the sum of several bills."""
    sum_ = Bill()
    for bill in bills:
        sum_.add(bill)
    money = sum_.amounts.pop("money", 0.0)
    whole = {name: int(amount or 0) for name, amount in sum_.amounts.items()}
    return Usage(**whole, money=None if money is None else round(money, 6))


#: Dollars per million tokens: (input, output).
Price = tuple[float, float]

#: Number of model calls assumed to share the remaining budget. An answer may be longer than usual
#: only if it fits in 1/AT_ONCE of the free tokens and money.
AT_ONCE = 16
#: A model call is not made if fewer than this many tokens are left for its answer.
LEAST_ROOM = 200


class HoldRequest(NamedTuple):
    """A request to reserve budget for a model call. The prompt has `told` tokens. The answer
    usually has `usual` tokens, and at most `most`. A `closing` call may use what is reserved for
    writing the report.
    """

    told: int
    usual: int
    most: int
    price: Price | None = None
    closing: bool = False


class Free(NamedTuple):
    """The tokens and dollars still available."""

    tokens: float
    money: float


class Hold(NamedTuple):
    """A reservation for a call. `room` is how many of the `tokens` are for the answer."""

    room: int
    tokens: int
    money: float
    closing: bool = False


class SharedLimit(Protocol):
    """A limit shared by all runs of a user."""

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Exchange usage with other machines, and announce `wish`, an upcoming call."""

    def free(self, *, settled: bool = False) -> Free:
        """Return the tokens and dollars left. If `settled`, ignore running calls' reservations."""
        ...

    def take(self, hold: Hold) -> None:
        """Reserve the maximum cost of a call."""

    def settle(self, hold: Hold, tokens: int, money: float) -> None:
        """Release a reservation and charge the call's actual cost."""


def cost(price: Price | None, told: int, said: int) -> float:
    """Return the cost in dollars of `told` input and `said` output tokens, or 0 without a price."""
    return (told * price[0] + said * price[1]) / 1_000_000 if price else 0.0


def hold_share(wish: HoldRequest, free: Free, *, alone: bool) -> Hold | None:
    """Return the reservation for a call, or None if too little is `free`. If no other call is
    running (`alone`), a shorter answer than usual is allowed.
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
    """Return the token limit for a call's answer, negative if the request alone exceeds `free`."""
    return int(min(free.tokens - wish.told, paid_by(wish, free.money)))


def paid_by(wish: HoldRequest, money: float) -> int:
    """Return how many answer tokens `money` buys, or -1 if it cannot pay for the request."""
    left = money - cost(wish.price, wish.told, 0)
    if wish.price is None or cost(wish.price, 0, wish.most) <= left:
        return wish.most
    return math.floor(left / wish.price[1] * 1_000_000) if wish.price[1] and left > 0 else -1


Limit = Literal["calls", "searches", "pages", "tokens", "money"]


@dataclass(frozen=True)
class Limits:
    """A run's limits. The settings with the same names describe them."""

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
    """A run's deadline and limits. `started` is a `time.monotonic` time."""

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
        #: Name of the first limit that was exhausted, or "".
        self.refused = ""
        #: Usage that is not yet recorded in the journal.
        self.loose = Bill()
        #: Dollars spent on calls with known prices.
        self._money = 0.0
        self._holds: list[Hold] = []
        self.shared: SharedLimit | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        #: The elapsed seconds and the amounts spent when writing began.
        self._began: tuple[float, dict[Limit, float]] | None = None
        #: The amounts reserved for rewriting weak parts of the report.
        self._again: dict[Limit, float] = {}
        #: Amounts spent before writing began, by calls that may use the writing reserve, such as
        #: the model test. The reserve is a share of the limit minus these amounts, so that enough
        #: is left for judging.
        self.early: dict[Limit, float] = {}

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """Return a budget with the limits from the settings. Its time starts now."""
        return cls(**{limit.name: getattr(settings, limit.name) for limit in fields(Limits)})

    def start(self, at: float, used: Usage | None = None) -> None:
        """Set when the run started (a `time.monotonic` time) and what it has used so far."""
        self.started = at
        self.used = used or self.used
        self._money = self.used.money or 0.0

    def metered(self) -> AbstractContextManager[Bill]:
        """Return a context manager that collects usage in a new bill. On exit, the bill is added to
        the enclosing one, unless the journal recorded it.
        """
        return meter_bill(self.loose)

    def writes(self) -> None:
        """Record that writing the report has begun."""
        self.writing = True
        self._began = self.elapsed(), {limit: self._paid(limit) for limit in _HELD_BACK}

    def wrote(self) -> None:
        """Record that the report is written, and reserve a share of its cost for rewriting."""
        if self._began is not None:
            at, before = self._began
            self.written = self.elapsed() - at
            self._again = {p: AGAIN * (self._paid(p) - paid) for p, paid in before.items()}

    def charge(self, limit: Limit, amount: float = 1) -> None:
        """Charge `amount` to a limit in advance, or raise BudgetSpent if too little is left."""
        if self.spent(limit) + amount > getattr(self.limits, limit):
            self._refuse(limit)
        self.add(**{_FIELD[limit]: int(amount)})

    def add(self, **amounts: float) -> None:
        """Add amounts to the usage. Each keyword is a field of `Usage`."""
        self.loose.current.add(amounts)
        self.used = self.used.model_copy(
            update={
                n: getattr(self.used, n) + amount
                for n, amount in amounts.items()
                if getattr(self.used, n) is not None
            }
        )

    def repeat(self, used: Amounts, elapsed: float) -> None:
        """Record the usage and time of a replayed answer, regardless of limits."""
        self.replayed = max(self.replayed or 0.0, elapsed)
        self._money += used.get("money", 0.0) or 0.0
        known = used.get("money", 0.0) is not None and self.used.money is not None
        self.used = self.used.model_copy(update={"money": round(self._money, 6) if known else None})
        self.add(**{name: amount for name, amount in used.items() if name != "money" and amount})

    async def hold(self, wish: HoldRequest, *, until: float) -> Hold:
        """Charge a model call and reserve its maximum cost, waiting for running calls if
        necessary. Raises BudgetSpent if too little becomes free by `until` (a `time.monotonic`
        time).
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
        """Release a hold, and record the (input, output) tokens and dollars (None if unknown)."""
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
        """Reduce the run's limits to what is left of a shared limit."""
        left = shared.free()
        tokens = min(self.limits.tokens, self.spent("tokens") + max(0.0, left.tokens))
        money = min(self.limits.money, self._money + max(0.0, left.money))
        self.limits = replace(self.limits, tokens=int(tokens), money=money)
        self.shared = shared

    def _free(self, *, closing: bool, settled: bool = False) -> Free:
        """Return what a call may reserve within both the run's limits and the shared limit."""
        own = self.free(closing=closing, settled=settled)
        if self.shared is None:
            return own
        other = self.shared.free(settled=settled and bool(self._holds))
        return Free(min(own.tokens, other.tokens), min(own.money, other.money))

    def free(self, *, closing: bool = False, settled: bool = False) -> Free:
        """Return what a call may reserve. With `closing`, include what is reserved for writing.
        With `settled`, ignore what running calls have reserved.
        """
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
        # WITH_MODEL applies even at quick effort. QUICK gives writing less time, but writing does
        # not need fewer calls, tokens or dollars.
        share = WITH_MODEL["write"] * (ceiling - self.early.get(limit, 0.0))
        kept = min(share, self._again.get(limit, ceiling))
        return ceiling - (math.ceil(kept) if limit == "calls" else kept)

    def _paid(self, limit: Limit) -> float:
        return self._money if limit == "money" else self.spent(limit)

    def _refuse(self, limit: Limit) -> NoReturn:
        self.refused = self.refused or limit
        raise BudgetSpent(limit)

    def spent(self, limit: Limit) -> float:
        """Return how much of a limit is used up."""
        if limit == "tokens":
            return self.used.tokens_in + self.used.tokens_out
        return float(getattr(self.used, _FIELD[limit]) or 0)

    def ended_by(self) -> str:
        """Return the first limit with only its writing reserve left (such as "time"), or ""."""
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
