"""Places at what all machines ask, which are rows of the database: see the functions of migration
0002. A place is asked for in one statement, and told of when it becomes free.

A place that nobody needs at the moment is kept a little while for who comes next in this process,
unless somebody waits elsewhere; so what is asked again and again costs no statement each time. What
is given back is given back in the background, many places in a statement.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import re
import secrets
import socket
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spadework.tools.stores.postgres.asking_soon import ASK_SECONDS
from spadework.tools.stores.postgres.notifications import PLACES
from spadework.tools.stores.shared_rooms import Check, Opening, Visit, wait_on

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.database import Database

#: A process tells so often that it lives; its places lapse where it has not for so long.
BEAT_SECONDS, LEASE_SECONDS = 3.0, 15.0
#: How long a place is kept for who comes next; after which it is asked for anew, since the database
#: may have forgotten it; and after which who waits looks again by itself.
KEEP_SECONDS, RENEW_SECONDS, LOOK_SECONDS = 1.0, 10.0, 2.0
#: What is left of rooms that nobody has asked for in so long is removed, every so many beats.
FORGET_SECONDS, FORGET_BEATS = 3_600.0, 200
#: Longest name of a room as it is; a longer one, and one in which a key may stand, is its hash.
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
    """The user and the session that a place is for."""

    owner: str
    session: str


@dataclass(eq=False)
class _Place:
    """A row that is held, asked for at a moment on the clock of the event loop."""

    ticket: str
    asked_at: float
    kept_until: float = 0.0


class PostgresRooms:
    """The places of this process. A database has one of these, in one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        #: How the process is known there.
        self.process = secrets.token_hex(8)
        self._soon = database.soon
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[None]] = {}
        #: Those of this process who are inside or wait to be, by room.
        self._here: Counter[str] = Counter()
        self._kept: defaultdict[str, list[_Place]] = defaultdict(list)
        #: The rooms where somebody of ours is, and for which somebody waits.
        self._wanted: set[str] = set()
        #: Tickets that are given back, each with its room, and how many seconds that is shut for.
        self._leaving: dict[str, tuple[str, float]] = {}
        self._work = asyncio.Event()

    def start(self) -> None:
        """Hear who is called in, and care for the places that are held."""
        self._loop = asyncio.get_running_loop()
        self._clock = self._loop.time
        self._database.listening.tell(PLACES, self._told)
        self._caring = asyncio.create_task(self._care())

    async def close(self) -> None:
        """Give all places back: those of a process that is not there lapse at once."""
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
        """A place for somebody; see `shared_place`."""
        room, visit = name_of(what), Visit()
        if asyncio.get_running_loop() is not self._loop:  # the browser's, where a visit has a place
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
            self._here += Counter()  # where nobody is is forgotten
            if place:
                self._leave(room, place, keep=not every, shut=visit.shut)

    async def _enter(
        self, who: tuple[str, str, str, str], most: Callable[[], int], every: float, check: Check
    ) -> _Place | None:
        """A new place, waited for; None where the database does not answer."""
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

    def _told(self, payload: str) -> None:
        """Somebody was called in here, or somebody waits somewhere."""
        if called := self._waiting.get(payload):
            if not called.done():
                called.set_result(None)
        elif self._ours(payload):
            self._wanted.add(payload)
            self._work.set()

    def _ours(self, room: str) -> bool:
        return bool(self._here[room] or self._kept.get(room))

    async def _care(self) -> None:
        """Give back what is to be given back, and tell now and then that the process lives."""
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
        """Give back places that were kept long enough, or are wanted elsewhere."""
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
        self._wanted.difference_update(rooms)  # who wants them from now on tells of it
        rows = await self._soon.ask(_LEAVE, ([*leaving], [*shuts]))
        if rows is None:  # later, then
            self._leaving = leaving | self._leaving
            return
        self._wanted.update(room for room, wanted in rows if wanted and self._ours(room))


def name_of(what: str) -> str:
    """How something is known to all machines. What listens on loopback is each machine's own."""
    said = f"{what} on {socket.gethostname()}" if _LOOPBACK.search(what) else what
    plain = said.isascii() and said.isprintable() and not set(said) & {"@", "?"}
    if len(said) > MOST_NAME or not plain:
        return hashlib.sha256(said.encode(errors="replace")).hexdigest()
    return said
