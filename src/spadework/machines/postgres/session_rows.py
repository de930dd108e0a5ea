"""The sessions shared by several machines, as seen by any process."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import zstandard

from spadework.machines.postgres.database import Database
from spadework.machines.postgres.session_claim import SessionClaim
from spadework.tools.stores.exchanges import pack_bytes

#: A session is "coming" until all its data is there, then "waiting" for a worker, then "running";
#: it can wait again after it failed or was cancelled.
LIVE, AGAIN = ("waiting", "running"), ("coming", "failed", "cancelled")
#: Seconds since the last heartbeat for which a worker counts as live.
ALIVE_SECONDS = 30
#: Files per query.
FILES_AT_ONCE = 20
_SUBMIT = (
    "INSERT INTO sessions (id, owner, state, brief, metadata, most_runs)"
    " VALUES (%s, %s, 'coming', %s, %s, %s)"
    " ON CONFLICT DO NOTHING"
)
_PUT_FILE = "INSERT INTO files (session, name, packed) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_WAIT = (
    "UPDATE sessions SET state = 'waiting', submitted_at = now(), changed_at = now()"
    " WHERE id = %s AND state = ANY(%s)"
)
_TAKE = "SELECT take_session(%s, %s)"
_COUNTS = (
    "SELECT (SELECT coalesce(max(number), 0) FROM events WHERE session = %s),"
    " (SELECT coalesce(max(number), 0) FROM exchanges WHERE session = %s)"
)
_END = (
    "UPDATE sessions SET state = %s, run = run + 1, changed_at = now()"
    " WHERE id = %s AND state = ANY(%s) RETURNING run"
)
_PUT_LAST = (
    "INSERT INTO events (session, number, line)"
    " SELECT id, (SELECT coalesce(max(number), 0) + 1 FROM events WHERE session = id), %s"
    " FROM sessions WHERE id = %s"
)
_SIGNAL = (
    "INSERT INTO signals (session, id, kind, told, events) VALUES (%s, %s, %s, %s,"
    " (SELECT coalesce(max(number), 0) FROM events WHERE session = %s)) ON CONFLICT DO NOTHING"
)
_SIGNALS = (
    "SELECT sessions.run, signals.number, signals.kind, signals.told, signals.events FROM sessions"
    " LEFT JOIN signals ON signals.session = sessions.id AND signals.number > %s"
    " WHERE sessions.id = %s ORDER BY signals.number"
)
_NEWS = (
    "SELECT sessions.state, events.number, events.line FROM sessions"
    " LEFT JOIN events ON events.session = sessions.id AND events.number > %s"
    " WHERE sessions.id = %s ORDER BY events.number"
)
_DELETE = (
    "WITH gone AS (DELETE FROM sessions WHERE id = %s RETURNING id)"
    " INSERT INTO deleted (id) SELECT id FROM gone ON CONFLICT DO NOTHING"
)
_CHECKPOINTS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_DELETE_SAVED = "DELETE FROM {} WHERE thread_id = %s"
_PLACE = (
    "SELECT workers.live, coalesce(place, 0), coalesce(waiting, 0),"
    " CASE WHEN held_back THEN most_runs ELSE 0 END"
    " FROM (SELECT count(*) AS live FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => %s)) AS workers"
    " LEFT JOIN queued ON queued.id = %s"
)


class New(NamedTuple):
    """A submitted session, and its user's limit on concurrent runs (0: none)."""

    id: str
    owner: str
    brief: str
    metadata: str
    most_runs: int = 0


class Kept(NamedTuple):
    """A session without its events and files. `run` is how often it was taken."""

    id: str
    owner: str
    state: str
    run: int
    brief: str
    metadata: str

    @property
    def live(self) -> bool:
        """Whether it waits or runs."""
        return self.state in LIVE


class Place(NamedTuple):
    """Live workers; the session's position in the queue, from 1, and its length; and its user's
    limit on runs, if that is what it waits for.
    """

    workers: int
    place: int
    of: int
    most_runs: int


class Signal(NamedTuple):
    """A user's command to a run, after this many of its events."""

    number: int
    kind: str
    told: str
    events: int


class SharedSessions:
    """All sessions. Everything raises DatabaseDown."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def submit(self, new: New, files: dict[str, bytes]) -> None:
        """Submit a session to the workers; one that failed or was cancelled waits again."""
        await self.database.ask(_SUBMIT, new)
        for name, data in files.items():
            await self.database.ask(_PUT_FILE, (new.id, name, pack_bytes(data)))
        await self.database.ask(_WAIT, (new.id, list(AGAIN)))

    async def find(self, session_id: str) -> Kept | None:
        """Return a session by id, or None."""
        asked = "SELECT id, owner, state, run, brief, metadata FROM sessions WHERE id = %s"
        return next((Kept(*row) for row in await self.database.ask(asked, (session_id,))), None)

    async def of_owner(self, owner: str, most: int | None) -> dict[str, str]:
        """Return the states of an owner's newest sessions, by id."""
        asked = "SELECT id, state FROM sessions WHERE owner = %s ORDER BY id DESC LIMIT %s"
        return dict(await self.database.ask(asked, (owner, most)))

    async def deleted(self, ids: Sequence[str]) -> list[str]:
        """Return which of these were deleted."""
        asked = "SELECT id FROM deleted WHERE id = ANY(%s)"
        return [one for (one,) in await self.database.ask(asked, (list(ids),))]

    async def take(self, session_id: str, worker: str) -> SessionClaim | None:
        """Take a session to run it; None if it is not to be run, or its user is at their limit."""
        [(run,)] = await self.database.ask(_TAKE, (session_id, worker))
        if run is None:
            return None
        # Nobody else writes any more: count after pending writes.
        [(told, exchanged)] = await self.database.ask(_COUNTS, (session_id, session_id))
        return SessionClaim(self.database, session_id, run, told, exchanged)

    async def end(self, session_id: str, state: str, line: str) -> bool:
        """End a session without a result; `line` is its last event. Return False if it was over."""
        return await self.database.retry(partial(self._end, session_id, state, line))

    async def _end(self, session_id: str, state: str, line: str) -> bool:
        """End it and store the event in one transaction."""
        async with self.database.pool.connection() as connection, connection.transaction():
            ended = await connection.execute(_END, (state, session_id, list(LIVE + AGAIN[:1])))
            if await ended.fetchone() is None:
                return False
            # Nobody else writes any more: number it after pending writes.
            await connection.execute(_PUT_LAST, (line, session_id))
            return True

    async def events(self, session_id: str, after: int) -> list[tuple[int, str]]:
        """Return the numbered events after number `after`."""
        asked = "SELECT number, line FROM events WHERE session = %s AND number > %s ORDER BY number"
        return [(n, line) for n, line in await self.database.ask(asked, (session_id, after))]

    async def news(self, session_id: str, after: int) -> tuple[str, list[tuple[int, str]]]:
        """Return the state of a session, "" if deleted, and its events after number `after`."""
        rows = await self.database.ask(_NEWS, (after, session_id))
        return (rows[0][0] if rows else ""), [(n, line) for _, n, line in rows if n is not None]

    async def file_names(self, session_id: str) -> list[str]:
        """Return the files of a session, by their paths in its folder."""
        asked = "SELECT name FROM files WHERE session = %s ORDER BY name"
        return [name for (name,) in await self.database.ask(asked, (session_id,))]

    async def files(self, session_id: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of files, by name."""
        found: dict[str, bytes] = {}
        asked = "SELECT name, packed FROM files WHERE session = %s AND name = ANY(%s)"
        for at in range(0, len(names), FILES_AT_ONCE):
            some = list(names[at : at + FILES_AT_ONCE])
            rows = await self.database.ask(asked, (session_id, some))
            found |= {name: zstandard.decompress(packed) for name, packed in rows}
        return found

    async def signal(self, session_id: str, kind: str, told: str = "") -> None:
        """Send a command to a session's run, wherever it is."""
        one = secrets.token_hex(8)
        await self.database.ask(_SIGNAL, (session_id, one, kind, told, session_id))

    async def signals(self, session_id: str, after: int) -> tuple[int, list[Signal]]:
        """Return how often it was taken, 0 if deleted; and its run's commands after a number."""
        rows = await self.database.ask(_SIGNALS, (after, session_id))
        taken = int(rows[0][0]) if rows else 0
        return taken, [Signal(*row[1:]) for row in rows if row[1] is not None]

    async def place(self, session_id: str) -> Place:
        """Return a session's position in the queue."""
        [row] = await self.database.ask(_PLACE, (ALIVE_SECONDS, session_id))
        return Place(*row)

    async def delete(self, session_id: str) -> None:
        """Delete a session with everything stored about it."""
        await self.database.retry(partial(self._delete, session_id))

    async def _delete(self, session_id: str) -> None:
        """Delete first the row that every write locks: pending writes finish and are deleted, and
        no more follow.
        """
        async with self.database.pool.connection() as connection, connection.transaction():
            await connection.execute(_DELETE, (session_id,))
            for table in _CHECKPOINTS:
                await connection.execute(_DELETE_SAVED.format(table).encode(), (session_id,))
