"""Share the limits of providers, hosts and models across machines."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter

from spadework.budget import Free, HoldRequest, cost, hold_share
from spadework.errors import DiskFailed, SettingsError, SpadeworkError, how_to_install
from spadework.machines.session_rows import CheckpointSaver, SessionClaim
from spadework.sessions.quotas import DayLimit
from spadework.sessions.storage.checkpoints import AfterTelling, our_serde
from spadework.sessions.users import UNKNOWN, ListFile, Row
from spadework.settings import Settings
from spadework.tools.stores.journal import Record
from spadework.tools.stores.journal_rows import Claim
from spadework.tools.stores.private_files import DatabaseDown
from spadework.tools.web.fair_queue import SHARED

if TYPE_CHECKING:
    from spadework.machines.database import Database
    from spadework.machines.rooms import Rows
    from spadework.machines.session_rows import SharedSessions


_EXTRA = ("alembic", "langgraph.checkpoint.postgres", "procrastinate", "psycopg", "psycopg_pool")


@asynccontextmanager
async def shared_sessions(settings: Settings) -> AsyncIterator[SharedSessions]:
    """Open the store of shared sessions in the database. Raises SettingsError or DiskFailed."""
    if settings.database_url is None:
        raise SettingsError(
            "No database is set.",
            hint="Set SPADEWORK_DATABASE_URL=postgresql://user:password@host/name.",
        )
    check_installed()
    from spadework.machines.database import opened
    from spadework.machines.session_rows import SharedSessions

    try:
        async with opened(settings.database_url) as database:
            yield SharedSessions(database)
    except DatabaseDown as error:
        raise DiskFailed(f"Sessions cannot be looked up now: {error.strerror}.") from None


def check_installed() -> None:
    """Raise SettingsError if database packages are missing."""
    if not all(_is_installed(name) for name in _EXTRA):
        raise SettingsError(
            "SPADEWORK_DATABASE_URL needs packages that are not installed.",
            hint=f"To install them, run {how_to_install('postgres')}.",
        )


@asynccontextmanager
async def connected(settings: Settings) -> AsyncIterator[None]:
    """Keep a server's connections to the database open. Raises SettingsError."""
    async with shared_sessions(settings):
        yield


def home_of(owner: str, settings: Settings) -> Path:
    """Return an owner's home folder. Raises SettingsError for paths outside the common home."""
    parts = PurePosixPath(owner).parts
    if ".." in parts or PurePosixPath(owner).is_absolute():
        raise SettingsError(f"The database contains an invalid owner: {owner[:80]!r}.")
    return settings.common.joinpath(*parts)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


#: Maximum seconds to wait for the database to open, and seconds from a failed attempt to the next
#: one.
OPEN_SECONDS, AWAY_SECONDS = 3.0, 30.0
_away_until = 0.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def limits_shared(settings: Settings, session_id: str) -> AsyncIterator[None]:
    """Share limits through the database, or only within this process while the database is down."""
    async with database_soon(settings) as database:
        if database is None:
            yield
            return
        from spadework.machines.rooms import Whose

        whose = Whose(settings.owner, session_id)
        token = SHARED.set(partial(database.rooms.place, whose))
        try:
            yield
        finally:
            with suppress(ValueError):  # `reset` fails if an abandoned run ends in another context
                SHARED.reset(token)


@asynccontextmanager
async def database_soon(settings: Settings) -> AsyncIterator[Database | None]:
    """Open the configured database. Yields None if there is none or it cannot be opened in time."""
    async with AsyncExitStack() as stack:
        if settings.database_url is None or time.monotonic() < _away_until:
            yield None
        else:
            yield await _opened(stack, settings)


async def _opened(stack: AsyncExitStack, settings: Settings) -> Database | None:
    global _away_until
    opening = asyncio.create_task(stack.enter_async_context(shared_sessions(settings)))
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            return (await asyncio.shield(opening)).database
    except (TimeoutError, SpadeworkError) as error:
        _away_until = time.monotonic() + AWAY_SECONDS
        said = str(error) or "the database does not answer"
        _log.warning("Limits now apply only to this process: %s", said)
        return None
    finally:
        opening.cancel()


#: Money reserved by a process is released if the process has not reported for this many seconds.
HELD_SECONDS = 300.0
_TELL = (
    "SELECT money, held_money FROM tell_spent"
    "(ROW(%s, %s, %s, 0, %s, 0, %s, now() + make_interval(secs => %s))::spent)"
)


class SharedDayLimit(DayLimit):
    """A user's daily spending limit for all machines together. While the database is down, the last
    known spending of other machines counts.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home)
        self._settings = settings
        self._process = secrets.token_hex(8)
        self._coming: list[float] = []
        self._told_of = 0
        self._held_elsewhere = 0.0

    def free(self, *, settled: bool = False) -> Free:
        """Return today's remaining money. Unless `settled`, subtract what running calls reserve."""
        left = super().free(settled=settled)
        return left if settled else left._replace(money=left.money - self._held_elsewhere)

    async def refresh(self, wish: HoldRequest | None = None) -> None:
        """Report this process's spending and reservations (including `wish`), and fetch the totals
        of the other processes.
        """
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
        with self._lock:
            if (today := datetime.now(UTC).strftime("%Y-%m-%d")) != self._day:
                self._begin(today)
                del self._pending[: self._told_of]  # these costs were reported on their own day
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


async def list_news(settings: Settings, known: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the lists changed since the versions in `known`, as (version, rows) by list name.
    Raises SettingsError or DiskFailed.
    """
    async with shared_sessions(settings) as shared:
        from spadework.machines.database import list_news as news_of

        return await news_of(shared.database, known)


class ListTable(ListFile[Row]):
    """A list stored in the database. Without a database, the file `before` stores it instead."""

    def __init__(self, url: str, name: str, rows: TypeAdapter[list[Row]], before: Path) -> None:
        self._url, self._name, self._rows = url, name, rows
        self._before = before
        self._known: tuple[int, list[Row]] | None = None

    @property
    def version(self) -> int:
        """The version last read: 0 if never changed, UNKNOWN if not read yet."""
        return self._known[0] if self._known else UNKNOWN

    @property
    def exists(self) -> bool:
        """True if the list was ever changed, or if its file `before` exists."""
        return self._take_row()[0] > 0 or self._before.exists()

    def read(self) -> list[Row]:
        """Return all rows. Raises SettingsError."""
        from spadework.machines.database import read_list

        self.take(*read_list(self._url, self._name))
        return self.current()

    def current(self) -> list[Row]:
        """Return the rows as they were last read from the database."""
        return self._take_row()[1]

    def take(self, version: int, rows: str) -> None:
        """Replace the rows last read with rows from the database."""
        self._known = version, self._rows.validate_json(rows)

    @contextmanager
    def edit(self) -> Iterator[list[Row]]:
        """Yield the rows for editing in place, then store them. Raises SettingsError."""
        from spadework.machines.database import changed_list

        with changed_list(self._url, self._name) as held:
            rows = self._rows.validate_json(held.rows)
            yield rows
            held.rows = self._rows.dump_json(rows).decode()

    def _take_row(self) -> tuple[int, list[Row]]:
        if self._known is None:
            self.read()
        assert self._known
        return self._known


class SharedCheckpoints(AfterTelling, CheckpointSaver):
    """Saves a session's checkpoints in the database, each after all earlier events are recorded."""

    def __init__(self, claim: Claim, record: Record) -> None:
        CheckpointSaver.__init__(self, cast("SessionClaim", claim), our_serde())
        self._record = record
