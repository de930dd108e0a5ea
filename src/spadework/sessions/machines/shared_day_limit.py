"""What the models of a user's runs may cost in a day on all machines together."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from spadework.holds import Free, HoldRequest, cost, hold_share
from spadework.sessions.machines.sharing_limits import database_soon
from spadework.sessions.quotas import DayLimit
from spadework.settings import Settings

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.asking_soon import Rows

#: What a process has set aside counts for so long if it is not heard of again.
HELD_SECONDS = 300.0
_TELL = (
    "SELECT money, held_money FROM tell_spent"
    "(ROW(%s, %s, %s, 0, %s, 0, %s, now() + make_interval(secs => %s))::spent)"
)


class SharedDayLimit(DayLimit):
    """The limit of one home, of which this process tells the others what it has spent, and what
    calls under way may cost. Told in one order: of two calls that want the last of it one sees the
    other.

    Where the database does not answer soon, what was known last counts.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home)
        self._settings = settings
        self._process = secrets.token_hex(8)
        #: What calls will set aside that are about to be told of.
        self._coming: list[float] = []
        self._told_of = 0
        self._held_elsewhere = 0.0

    def free(self, *, settled: bool = False) -> Free:
        """What is left of the day; `settled`: as if no call were under way anywhere."""
        left = super().free(settled=settled)
        return left if settled else left._replace(money=left.money - self._held_elsewhere)

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Tell what was spent and set aside here, and know what was elsewhere."""
        coming = [_usual(wish, self.free())] if wish else []
        with self._lock:
            self._coming += coming
        try:
            async with database_soon(self._settings) as database:
                if database is not None:
                    values, told = self._now()
                    rows = await database.soon.ask(_TELL, values)
                    self._heard(values[1], rows, told)
        finally:
            with self._lock:
                for one in coming:
                    self._coming.remove(one)

    def _now(self) -> tuple[tuple[object, ...], int]:
        """What is told, and how many settled calls are in it."""
        with self._lock:
            if (today := datetime.now(UTC).strftime("%Y-%m-%d")) != self._day:
                self._begin(today)
                del self._pending[: self._told_of]  # those were told of on their day
                self._told_of = 0
            values = (
                *(self._settings.owner, today, self._process),
                sum(money for _, money in self._pending),
                sum(hold.money for hold in self._holds) + sum(self._coming),
                HELD_SECONDS,
            )
            return values, len(self._pending)

    def _heard(self, day: object, rows: Rows | None, told: int) -> None:
        with self._lock:
            if rows and day == self._day:
                [(self._told, self._held_elsewhere)] = rows
                self._told_of = max(told, self._told_of)


def _usual(wish: HoldRequest, free: Free) -> float:
    """Return the dollars that a call will set aside where so much is free."""
    hold = hold_share(wish, free, alone=True)
    return hold.money if hold else cost(wish.price, wish.told, wish.usual)
