"""What the models of a user's runs may take in a day on all machines together."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from spadework.holds import HoldRequest, cost
from spadework.sessions.day_limit import DayLimit
from spadework.sessions.machines.shared import owner_of
from spadework.sessions.machines.sharing_limits import database_soon
from spadework.settings import Settings

#: What a process has set aside counts for so long if it is not heard of again.
HELD_SECONDS = 300.0
_TELL = (
    "SELECT tokens, money FROM tell_spent"
    "(ROW(%s, %s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s))::spent)"
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
        self._wishes: list[HoldRequest] = []
        self._told_of = 0

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Tell what was spent and set aside here, and know what was elsewhere."""
        wishes = [wish] if wish else []
        with self._lock:
            self._wishes += wishes
        try:
            async with database_soon(self._settings) as database:
                if database is not None:
                    values, told = self._now()
                    rows = await database.soon.ask(_TELL, values)
                    self._heard(values[1], rows, told)
        finally:
            with self._lock:
                for one in wishes:
                    self._wishes.remove(one)

    def _now(self) -> tuple[tuple[object, ...], int]:
        """What is told, and how many settled calls are in it."""
        with self._lock:
            if (today := datetime.now(UTC).strftime("%Y-%m-%d")) != self._day:
                self._begin(today)
                del self._pending[: self._told_of]  # those were told of on their day
                self._told_of = 0
            holds, wishes = self._holds, self._wishes
            values = (
                *(owner_of(self._settings), today, self._process),
                sum(tokens for tokens, _ in self._pending),
                sum(money for _, money in self._pending),
                sum(h.tokens for h in holds) + sum(w.told + w.most for w in wishes),
                sum(h.money for h in holds) + sum(cost(w.price, w.told, w.most) for w in wishes),
                HELD_SECONDS,
            )
            return values, len(self._pending)

    def _heard(self, day: object, rows: list[tuple[int, float]] | None, told: int) -> None:
        with self._lock:
            if rows and day == self._day:
                self._told = int(rows[0][0]), float(rows[0][1])
                self._told_of = max(told, self._told_of)
