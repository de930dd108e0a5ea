"""The daily limit on model costs of a user's runs, over all machines."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from spadework.holds import Free, HoldRequest, cost, hold_share
from spadework.machines.shared_limits import database_soon
from spadework.sessions.quotas import DayLimit
from spadework.settings import Settings

if TYPE_CHECKING:
    from spadework.machines.postgres.timely_queries import Rows


#: Seconds after which reservations of a silent process expire.
HELD_SECONDS = 300.0
_TELL = (
    "SELECT money, held_money FROM tell_spent"
    "(ROW(%s, %s, %s, 0, %s, 0, %s, now() + make_interval(secs => %s))::spent)"
)


class SharedDayLimit(DayLimit):
    """The limit of one home, of which each process reports its spending and reservations to the
    others. Reports are ordered: of two calls competing for the rest, one sees the other.

    If the database does not respond soon, the last known values count.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home)
        self._settings = settings
        self._process = secrets.token_hex(8)
        #: Reservations about to be reported.
        self._coming: list[float] = []
        self._told_of = 0
        self._held_elsewhere = 0.0

    def free(self, *, settled: bool = False) -> Free:
        """Return what is left of the day; `settled`: as if no calls were running anywhere."""
        left = super().free(settled=settled)
        return left if settled else left._replace(money=left.money - self._held_elsewhere)

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Report spending and reservations, and fetch those of others."""
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
        """Return the report, and how many settled calls it includes."""
        with self._lock:
            if (today := datetime.now(UTC).strftime("%Y-%m-%d")) != self._day:
                self._begin(today)
                del self._pending[: self._told_of]  # reported on their own day
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
    hold = hold_share(wish, free, alone=True)
    return hold.money if hold else cost(wish.price, wish.told, wish.usual)
