"""Share resources (`room`), such as search providers, among all machines. Each use holds a slot
(`place`). A process keeps an unused slot briefly for its next caller.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
import re
import secrets
import socket
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Error

from spadework.tools.stores.private_files import why
from spadework.tools.web.fair_queue import Check, Opening, Visit, wait_on

if TYPE_CHECKING:
    from spadework.machines.database import Database


ASK_SECONDS = 3.0
#: Notification channel for granted slots, and for resources that other processes are waiting for.
PLACES = "spadework_places"
_log = logging.getLogger(__name__)
Rows = list[tuple[Any, ...]]


class AskingSoon:
    """Queries the database with a timeout. While it is `down`, only `try_again` sends queries."""

    def __init__(self, once: Callable[[str, Sequence[Any]], Awaitable[Rows]]) -> None:
        self._once = once
        self.down = False
        self._tasks: set[asyncio.Task[Rows]] = set()

    async def ask(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """Return the rows, or None if the database is down or too slow. `late` is called when a
        query that timed out finally ends.
        """
        return None if self.down else await self.try_again(statement, values, late)

    async def try_again(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """Query like `ask`, but even while the database is down. A response clears `down`."""
        task = asyncio.ensure_future(self._once(statement, values))
        self._tasks.add(task)
        task.add_done_callback(self._over)
        try:
            async with asyncio.timeout(ASK_SECONDS):
                rows = await asyncio.shield(task)
        except (Error, OSError) as error:
            if not self.down:
                _log.warning("Limits now apply only to this process: %s", why(error))
            self.down = True
            return None
        finally:
            if not task.done():
                task.cancel()
                if late:
                    task.add_done_callback(lambda _: late())
        self.down = False
        return rows

    async def close(self) -> None:
        """Cancel running queries."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ASK_SECONDS)

    def _over(self, task: asyncio.Task[Rows]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # keeps asyncio from logging the error


BEAT_SECONDS = 3.0
#: Seconds until a silent process loses its slots.
LEASE_SECONDS = 15.0
#: Seconds to keep an unused slot for the next caller.
KEEP_SECONDS = 1.0
#: A slot requested more than this many seconds ago is not kept for the next caller, because the
#: database may have lost its record of the slot.
RENEW_SECONDS = 10.0
LOOK_SECONDS = 2.0
#: Seconds until an unused resource is removed.
FORGET_SECONDS = 3_600.0
#: Number of heartbeats between removals of unused resources.
FORGET_BEATS = 200
#: A resource name is hashed if it is longer than this many characters or might contain an API key.
MOST_NAME = 200
_LOOPBACK = re.compile(r"(?<![\w.-])(?:127\.\d|localhost\b|\[::1\])", re.IGNORECASE)
_ASK = (
    "SELECT inside, wanted, opens, shut"
    " FROM ask_place(ROW(%s, %s, %s, %s, %s, %s, %s, false, now())::places, %s)"
)
_LEAVE = "SELECT room, wanted FROM leave_places(%s::text[], %s::double precision[])"
_BEAT = (
    "INSERT INTO askers VALUES (%s, clock_timestamp() + make_interval(secs => %s))"
    " ON CONFLICT (process) DO UPDATE SET lapses_at = excluded.lapses_at"
)
_FORGET = tuple(
    f"DELETE FROM {table} WHERE {at} < clock_timestamp() - make_interval(secs => %s)"
    for table, at in (("askers", "lapses_at"), ("rooms", "asked_at"), ("calls", "called_at"))
)
_END = "DELETE FROM askers WHERE process = %s"


class Whose(NamedTuple):
    """The user and the session that hold a slot."""

    owner: str
    session: str


@dataclass(eq=False)
class _Place:
    """A slot that this process holds, with times from the event loop's clock."""

    ticket: str
    asked_at: float
    kept_until: float = 0.0


class PostgresRooms:
    """Manages this process's slots. Each database and event loop has one instance."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.process = secrets.token_hex(8)
        self._soon = database.soon
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._here: Counter[str] = Counter()
        self._kept: defaultdict[str, list[_Place]] = defaultdict(list)
        #: Resources that this process uses and that other processes are waiting for.
        self._wanted: set[str] = set()
        #: Slots being given back, by ticket. Each value is the slot's resource, and the seconds for
        #: which nobody gets a slot of this resource.
        self._leaving: dict[str, tuple[str, float]] = {}
        self._work = asyncio.Event()

    def start(self) -> None:
        """Listen for granted slots, and start the task that renews or returns held slots."""
        self._loop = asyncio.get_running_loop()
        self._clock = self._loop.time
        self._database.listening.tell(PLACES, self._notified)
        self._caring = asyncio.create_task(self._care())

    async def close(self) -> None:
        """Give up all slots."""
        self._caring.cancel()
        await asyncio.wait({self._caring}, timeout=ASK_SECONDS)
        await self._soon.ask(_END, (self.process,))

    @asynccontextmanager
    async def place(
        self,
        whose: Whose,
        what: str,
        most: Callable[[], int],
        every: float = 0.0,
        check: Check = wait_on,
    ) -> AsyncIterator[Visit]:
        """Hold a slot. See `shared_place`."""
        room, visit = name_of(what), Visit()
        # Only the browser uses another event loop, and its page visits already have a slot.
        if asyncio.get_running_loop() is not self._loop:
            yield visit
            return
        place = self._kept[room].pop() if self._kept.get(room) and not every else None
        self._here[room] += 1
        try:
            if place is None and not self._soon.down:
                who = (room, self.process, whose.owner, whose.session)
                place = await self._enter(who, most, every, check)
            yield visit
        finally:
            self._here[room] -= 1
            self._here += Counter()
            if place:
                self._leave(room, place, keep=not every, shut=visit.shut)

    async def _enter(
        self, who: tuple[str, str, str, str], most: Callable[[], int], every: float, check: Check
    ) -> _Place | None:
        """Wait for a new slot and return it, or return None if the database does not respond."""
        place = _Place(f"{self.process}-{next(self._numbers)}", self._clock())
        give_back = partial(self._give_back, who[0], place.ticket)
        called = self._waiting[place.ticket] = asyncio.get_running_loop().create_future()
        try:
            while not called.done():
                asked = (place.ticket, *who, max(0, most()), every, LEASE_SECONDS)
                rows = await self._soon.ask(_ASK, asked, give_back)
                if not rows:
                    give_back()
                    return None
                [(inside, wanted, opens, shut)] = rows
                if wanted or not inside:
                    self._wanted.add(who[0])
                if inside or called.done():
                    break
                check(Opening(opens, shut))
                soon = max(opens, shut) or LOOK_SECONDS
                await asyncio.wait({called}, timeout=min(LOOK_SECONDS, soon))
        except BaseException:
            give_back()
            raise
        finally:
            del self._waiting[place.ticket]
        return place

    def _leave(self, room: str, place: _Place, *, keep: bool, shut: float) -> None:
        now = self._clock()
        fresh = now < place.asked_at + RENEW_SECONDS
        if keep and fresh and not (shut or self._soon.down or room in self._wanted):
            place.kept_until = now + KEEP_SECONDS
            self._kept[room].append(place)
        else:
            self._give_back(room, place.ticket, shut)

    def _give_back(self, room: str, ticket: str, shut: float = 0.0) -> None:
        self._leaving[ticket] = room, shut
        self._work.set()

    def _notified(self, payload: str) -> None:
        if called := self._waiting.get(payload):
            if not called.done():
                called.set_result(None)
        elif self._ours(payload):
            self._wanted.add(payload)
            self._work.set()

    def _ours(self, room: str) -> bool:
        return bool(self._here[room] or self._kept.get(room))

    async def _care(self) -> None:
        beats, beat_at = itertools.count(1), 0.0
        while True:
            pause = KEEP_SECONDS if self._kept else BEAT_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._work.wait()
            self._work.clear()
            self._let_go()
            await self._send_back()
            if self._clock() >= beat_at and (self._soon.down or self._here or self._kept):
                await self._soon.try_again(_BEAT, (self.process, LEASE_SECONDS))
                if next(beats) % FORGET_BEATS == 0:
                    for statement in _FORGET:
                        await self._soon.ask(statement, (FORGET_SECONDS,))
                beat_at = self._clock() + BEAT_SECONDS

    def _let_go(self) -> None:
        now = self._clock()
        for room, kept in [*self._kept.items()]:
            every = self._soon.down or room in self._wanted
            for place in [one for one in kept if every or one.kept_until <= now]:
                kept.remove(place)
                self._give_back(room, place.ticket)
            if not kept:
                del self._kept[room]

    async def _send_back(self) -> None:
        leaving, self._leaving = self._leaving, {}
        if not leaving or self._soon.down:
            self._leaving = leaving
            return
        rooms, shuts = zip(*leaving.values(), strict=True)
        self._wanted.difference_update(rooms)  # added again below if processes still wait
        rows = await self._soon.ask(_LEAVE, ([*leaving], [*shuts]))
        if rows is None:  # try later
            self._leaving = leaving | self._leaving
            return
        self._wanted.update(room for room, wanted in rows if wanted and self._ours(room))


def name_of(what: str) -> str:
    """Return the name by which all machines know a resource. The host name is added to a loopback
    address, because the address means a different resource on each machine.
    """
    said = f"{what} on {socket.gethostname()}" if _LOOPBACK.search(what) else what
    plain = said.isascii() and said.isprintable() and not set(said) & {"@", "?"}
    if len(said) > MOST_NAME or not plain:
        return hashlib.sha256(said.encode(errors="replace")).hexdigest()
    return said
