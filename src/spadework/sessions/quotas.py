"""A user's quotas: concurrent sessions, and dollars per day."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    suppress,
)
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from spadework.backend import backend_of
from spadework.budget import Budget, Free, Hold, HoldRequest
from spadework.errors import DaySpent, Stopping
from spadework.sessions import admission
from spadework.sessions.admission import Whose
from spadework.sessions.metrics.prometheus import TALLY
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import private_file

#: Folder of the files that record spending, and their suffix.
SPENT, ENDING = "spent", ".txt"


class DayLimit:
    """The daily spending limit, in US dollars, of the user whose home folder is `home`."""

    def __init__(self, home: Path) -> None:
        self._folder = home / SPENT
        self._lock = threading.Lock()
        self.money = math.inf
        self._begin("")
        self._pending: list[tuple[int, float]] = []
        self._holds: list[Hold] = []

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Record what this process spent today, and read what other processes spent."""
        await on_disk(self._exchange)

    def free(self, *, settled: bool = False) -> Free:
        """Return today's remaining money. Unless `settled`, subtract what running calls reserve."""
        with self._lock:
            holds = () if settled else self._holds
            pending = sum(money for _, money in self._pending)
            money = self._told + pending + sum(hold.money for hold in holds)
        return Free(math.inf, self.money - money)

    def take(self, hold: Hold) -> None:
        """Reserve a call's maximum cost."""
        with self._lock:
            self._holds.append(hold)

    def settle(self, hold: Hold, tokens: int, money: float) -> None:
        """Replace a call's reservation with its actual cost."""
        with self._lock:
            self._holds.remove(hold)
            self._pending.append((tokens, money))

    def check(self) -> None:
        """Raise DaySpent if today's limit is used up."""
        if self.free(settled=True).money <= 0:
            raise DaySpent(
                f"You have used up your daily limit of {self.money:,.2f} US dollars.",
                hint="The limit is reset at 00:00 UTC.",
            )

    def _begin(self, day: str) -> None:
        self._day, self._at, self._told = day, 0, 0.0

    def _exchange(self) -> None:
        with self._lock, suppress(OSError):  # unwritten costs stay pending
            if (today := datetime.now(UTC).strftime("%Y-%m-%d")) != self._day:
                self._begin(today)
            path = self._folder / f"{today}{ENDING}"
            if self._pending:
                lines = "".join(f"{tokens} {money!r}\n" for tokens, money in self._pending)
                private_file(path)
                with path.open("ab", buffering=0) as file:
                    file.write(lines.encode())
                self._pending.clear()
            self._read(path)

    def _read(self, path: Path) -> None:
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(self._at)
            whole = file.read().rpartition(b"\n")[0]
            self._at += len(whole) + bool(whole)
            for line in whole.splitlines():
                with suppress(ValueError):  # a full disk may truncate a line
                    _, money = line.split()  # the daily limit does not count tokens
                    self._told += float(money)


_limits: dict[tuple[Path, SecretStr | None], DayLimit] = {}


def _day_limit(settings: Settings) -> DayLimit:
    if settings.database_url is None:
        return DayLimit(settings.home)
    limit: DayLimit = backend_of(settings).day_limit(settings)
    return limit


async def day_limit_of(settings: Settings) -> DayLimit | None:
    """Return the user's daily limit, or None if there is none. Raises DaySpent if it is used up."""
    if not settings.user_money:
        return None
    key = settings.home, settings.database_url
    limit = _limits.get(key) or _limits.setdefault(key, _day_limit(settings))
    limit.money = settings.user_money
    await limit.refresh()
    limit.check()
    return limit


STOPPING = "This server is stopping and accepts no new questions."


def check_open() -> None:
    """Raise Stopping if this process no longer accepts questions."""
    if admission.here().closed:
        TALLY.refused["stopping"] += 1
        raise Stopping(STOPPING, hint="Ask again in a moment.")


async def accept(settings: Settings) -> None:
    """Raise Stopping or DaySpent if a new question cannot be accepted."""
    check_open()
    await check(settings)


async def check(settings: Settings, *, replayed: bool = False) -> None:
    """Raise DaySpent if the daily limit is used up. Replays are not checked."""
    if replayed:
        return
    try:
        await day_limit_of(settings)
    except DaySpent:
        TALLY.refused["day"] += 1
        raise


def place(
    settings: Settings, stop: asyncio.Event, progress: Callable[[str], None] | None
) -> AbstractAsyncContextManager[None]:
    """Wait for and hold a free session slot. `progress` receives messages on the queue position."""

    def report_place(place: int, of: int) -> None:
        if progress:
            full = whose.most and admission.here().inside_of(whose.user) >= whose.most
            why = why_waiting(whose.most if full else 0)
            progress(f"{why}. You are number {place} of {of} in the queue.")

    whose = _whose(settings)
    return admission.here().place(settings.parallel_sessions, stop, report_place, whose)


def stepped_out(settings: Settings) -> AbstractContextManager[None]:
    """Free the session's slot while waiting for the user's answer."""
    return admission.here().stepped_out(_whose(settings).user)


def _whose(settings: Settings) -> Whose:
    return Whose(str(settings.home), settings.user_runs)


def why_waiting(most: int) -> str:
    """Return why a session waits. `most` is the user's concurrency limit if that is why, else 0."""
    if most:
        many = "1 of your questions is" if most == 1 else f"{most} of your questions are"
        return f"{many} being researched (your limit is {most})"
    return "Other questions are being researched"


@asynccontextmanager
async def day_limit(budget: Budget, settings: Settings, *, replayed: bool) -> AsyncIterator[None]:
    """Limit spending to today's remaining money, except in a replay. Raises DaySpent if it is 0."""
    found = None if replayed else await day_limit_of(settings)
    if found is None:
        yield
        return
    budget.draw_on(found)
    try:
        yield
    finally:
        await found.refresh()
