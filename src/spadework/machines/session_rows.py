"""Store sessions for several machines. Only the worker that has claimed a run can write to it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import zstandard
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor
from psycopg.abc import Params, Query
from psycopg.rows import DictRow, dict_row

from spadework.machines.database import ALIVE_SECONDS, Database
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.exchanges import pack_bytes
from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, JournalRows
from spadework.tools.stores.private_files import ClaimLost
from spadework.tools.stores.session_database import SqliteRows

#: A fenced statement writes only if the worker's claim to the session still holds. It locks the
#: session's row, so that a takeover by another worker waits until the statement is done.
_FENCED = (
    "WITH mine AS (SELECT id FROM sessions WHERE id = %s AND run = %s FOR SHARE),"
    " done AS ({}) SELECT count(*) FROM mine"
)
_PUT_EVENTS = (
    "INSERT INTO events (session, number, line)"
    " SELECT id, unnest(%s::integer[]), unnest(%s::text[]) FROM mine ON CONFLICT DO NOTHING"
)
_PUT_FILE = (
    "INSERT INTO files (session, name, packed) SELECT id, %s, %s FROM mine"
    " ON CONFLICT (session, name) DO UPDATE SET packed = excluded.packed"
)
_END = (
    "UPDATE sessions SET state = %s, metadata = %s, changed_at = now()"
    " WHERE id IN (SELECT id FROM mine)"
)
_TABLES = ("journal", "exchanges", "bodies")
_OWN = ", ".join(f"{name} AS (SELECT * FROM {name} WHERE session = %s)" for name in _TABLES)
_PUT_ANSWER = (
    "INSERT INTO journal (session, key, kind, subject, answer, error, used, elapsed)"
    " SELECT id, %s, %s, %s, %s, %s, %s, %s FROM mine"
    " ON CONFLICT (session, key) DO UPDATE SET answer = excluded.answer, error = excluded.error,"
    " used = excluded.used, elapsed = excluded.elapsed, at = now()"
)
_PUT_EXCHANGE = (
    "INSERT INTO exchanges (session, number, key, kind, request, pieces, error, used, elapsed)"
    " SELECT id, %s, %s, %s, %s, %s, %s, %s, %s FROM mine ON CONFLICT DO NOTHING"
)
_PUT_BODY = (
    "INSERT INTO bodies (session, hash, packed) SELECT id, %s, %s FROM mine ON CONFLICT DO NOTHING"
)
BODIES_AT_ONCE = 50
_COPIED = {
    "journal": ("key, kind, subject, answer, error, used, elapsed, at::text", 8),
    "exchanges": ("number, key, kind, request, pieces, error, used, elapsed, at::text", 9),
}
_HELD = "SELECT 1 FROM sessions WHERE id = %s AND run = %s FOR SHARE"


class SessionClaim:
    """A worker's claim (number `run`) to a session. `stored` is the number of the last stored
    event, and `exchanged` that of the last stored exchange (a request and its reply). `lost` is
    True after another worker takes over.
    """

    def __init__(
        self, database: Database, session_id: str, run: int, stored: int, exchanged: int
    ) -> None:
        self.database = database
        self.session_id = session_id
        self.run = run
        self.stored = stored
        self.exchanged = exchanged
        self.lost = False

    async def write(self, statement: str, *values: Any) -> None:
        """Run a write statement if this claim still holds. The statement must select from `mine`
        (see _FENCED). Raises ClaimLost or DatabaseDown.
        """
        if not self.lost:
            [(held,)] = await self.database.ask(
                _FENCED.format(statement), (self.session_id, self.run, *values)
            )
            self.lost = not held
        if self.lost:
            raise ClaimLost(self.session_id)

    def journal_rows(self) -> PostgresRows:
        """See `Claim.journal_rows`."""
        return PostgresRows(self)

    async def tell(self, lines: bytes) -> None:
        """See `Claim.tell`."""
        events = [line.decode() for line in lines.split(b"\n") if line]
        numbers = [*range(self.stored + 1, self.stored + 1 + len(events))]
        await self.write(_PUT_EVENTS, numbers, events)
        self.stored += len(events)

    async def keep_file(self, name: str, data: bytes) -> None:
        """See `Claim.keep_file`."""
        await self.write(_PUT_FILE, name, pack_bytes(data))

    async def end(self, state: str, metadata: str) -> None:
        """Record how the session ended."""
        await self.write(_END, state, metadata)


class PostgresRows(JournalRows):
    """A claimed session's journal rows. Any method may raise DatabaseDown or ClaimLost."""

    def __init__(self, claim: SessionClaim) -> None:
        self._claim = claim

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """See `JournalRows.ask`. Only this session's rows are visible."""
        own = [self._claim.session_id] * len(_TABLES)
        asked = f"WITH {_OWN} {statement.replace('?', '%s')}"
        return await self._claim.database.ask(asked, (*own, *values))

    async def put_answer(self, row: AnswerRow) -> None:
        """See `JournalRows.put_answer`."""
        # The subject need not be exact, so characters that cannot be encoded are replaced.
        subject = row.subject.encode(errors="replace").decode()
        await self._claim.write(_PUT_ANSWER, *row._replace(subject=subject))

    async def put_exchange(self, row: ExchangeRow) -> None:
        """See `JournalRows.put_exchange`. A retried statement adds no second row."""
        self._claim.exchanged += 1
        await self._claim.write(_PUT_EXCHANGE, self._claim.exchanged, *row)

    async def put_body(self, name: str, packed: bytes) -> None:
        """See `JournalRows.put_body`."""
        await self._claim.write(_PUT_BODY, name, packed)

    async def close(self) -> None:
        """Do nothing, because each statement is independent."""

    async def abandon(self) -> None:
        """Do nothing."""


#: The states of a live session. A new session is "coming" until its data is stored, and only then
#: "waiting".
LIVE = ("waiting", "running")
#: States from which a session can become "waiting".
AGAIN = ("coming", "failed", "cancelled")
FILES_AT_ONCE = 20
_SUBMIT = (
    "INSERT INTO sessions (id, owner, state, brief, metadata, most_runs)"
    " VALUES (%s, %s, 'coming', %s, %s, %s)"
    " ON CONFLICT DO NOTHING"
)
_PUT_ROW_FILE = (
    "INSERT INTO files (session, name, packed) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
)
_WAIT = (
    "UPDATE sessions SET state = 'waiting', submitted_at = now(), changed_at = now()"
    " WHERE id = %s AND state = ANY(%s)"
)
_TAKE = "SELECT take_session(%s, %s)"
_COUNTS = (
    "SELECT (SELECT coalesce(max(number), 0) FROM events WHERE session = %s),"
    " (SELECT coalesce(max(number), 0) FROM exchanges WHERE session = %s)"
)
_END_ROW = (
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
    """A submitted session. `most_runs` limits its user's running sessions (0: no limit)."""

    id: str
    owner: str
    brief: str
    metadata: str
    most_runs: int = 0


class Kept(NamedTuple):
    """A session's row. `run` counts how often workers have claimed the session."""

    id: str
    owner: str
    state: str
    run: int
    brief: str
    metadata: str

    @property
    def live(self) -> bool:
        """True if the session is waiting or running."""
        return self.state in LIVE


class Place(NamedTuple):
    """A session's position `place` in the queue (from 1). `of` is the number of waiting sessions,
    and `workers` the number of live workers. `most_runs` is the user's limit if it delays the
    session, otherwise 0.
    """

    workers: int
    place: int
    of: int
    most_runs: int


class Signal(NamedTuple):
    """A user's command to a run, sent when the run had recorded `events` events."""

    number: int
    kind: str
    told: str
    events: int


class SharedSessions:
    """The sessions of all machines, stored in the database. Any method may raise DatabaseDown."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def submit(self, new: New, files: dict[str, bytes]) -> None:
        """Submit a session, or resubmit a failed or cancelled one."""
        await self.database.ask(_SUBMIT, new)
        for name, data in files.items():
            await self.database.ask(_PUT_ROW_FILE, (new.id, name, pack_bytes(data)))
        await self.database.ask(_WAIT, (new.id, list(AGAIN)))

    async def find(self, session_id: str) -> Kept | None:
        """Return a session by id, or None."""
        asked = "SELECT id, owner, state, run, brief, metadata FROM sessions WHERE id = %s"
        return next((Kept(*row) for row in await self.database.ask(asked, (session_id,))), None)

    async def of_owner(self, owner: str, most: int | None) -> dict[str, str]:
        """Return the states of an owner's `most` newest sessions (None: all sessions), by id."""
        asked = "SELECT id, state FROM sessions WHERE owner = %s ORDER BY id DESC LIMIT %s"
        return dict(await self.database.ask(asked, (owner, most)))

    async def deleted(self, ids: Sequence[str]) -> list[str]:
        """Return the ids of the deleted sessions among `ids`."""
        asked = "SELECT id FROM deleted WHERE id = ANY(%s)"
        return [one for (one,) in await self.database.ask(asked, (list(ids),))]

    async def take(self, session_id: str, worker: str) -> SessionClaim | None:
        """Claim a session, or return None if it is not live or its user's limit is reached."""
        [(run,)] = await self.database.ask(_TAKE, (session_id, worker))
        if run is None:
            return None
        # These numbers no longer change, because earlier workers can no longer write.
        [(stored, exchanged)] = await self.database.ask(_COUNTS, (session_id, session_id))
        return SessionClaim(self.database, session_id, run, stored, exchanged)

    async def end(self, session_id: str, state: str, line: str) -> bool:
        """End a session without a result, and add event `line`. Return False if already ended."""
        return await self.database.retry(partial(self._end, session_id, state, line))

    async def _end(self, session_id: str, state: str, line: str) -> bool:
        async with self.database.pool.connection() as connection, connection.transaction():
            ended = await connection.execute(_END_ROW, (state, session_id, list(LIVE + AGAIN[:1])))
            if await ended.fetchone() is None:
                return False
            # Nobody else can add events any more, so this event gets the highest number.
            await connection.execute(_PUT_LAST, (line, session_id))
            return True

    async def events(self, session_id: str, after: int) -> list[tuple[int, str]]:
        """Return the events after number `after`, with their numbers."""
        asked = "SELECT number, line FROM events WHERE session = %s AND number > %s ORDER BY number"
        return [(n, line) for n, line in await self.database.ask(asked, (session_id, after))]

    async def news(self, session_id: str, after: int) -> tuple[str, list[tuple[int, str]]]:
        """Return a session's state ("" if deleted) and its events after number `after`."""
        rows = await self.database.ask(_NEWS, (after, session_id))
        return (rows[0][0] if rows else ""), [(n, line) for _, n, line in rows if n is not None]

    async def file_names(self, session_id: str) -> list[str]:
        """Return the session's file paths, relative to its folder."""
        asked = "SELECT name FROM files WHERE session = %s ORDER BY name"
        return [name for (name,) in await self.database.ask(asked, (session_id,))]

    async def files(self, session_id: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of a session's files by name, omitting files that do not exist."""
        found: dict[str, bytes] = {}
        asked = "SELECT name, packed FROM files WHERE session = %s AND name = ANY(%s)"
        for at in range(0, len(names), FILES_AT_ONCE):
            some = list(names[at : at + FILES_AT_ONCE])
            rows = await self.database.ask(asked, (session_id, some))
            found |= {name: zstandard.decompress(packed) for name, packed in rows}
        return found

    async def signal(self, session_id: str, kind: str, told: str = "") -> None:
        """Send a command to a session's run on any machine."""
        one = secrets.token_hex(8)
        await self.database.ask(_SIGNAL, (session_id, one, kind, told, session_id))

    async def signals(self, session_id: str, after: int) -> tuple[int, list[Signal]]:
        """Return a session's claim count (0 if deleted) and the commands after number `after`."""
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
        """Delete a session's row, then its checkpoints. Every write locks the session's row first,
        so nothing can be written after the row is deleted.
        """
        async with self.database.pool.connection() as connection, connection.transaction():
            await connection.execute(_DELETE, (session_id,))
            for table in _CHECKPOINTS:
                await connection.execute(_DELETE_SAVED.format(table).encode(), (session_id,))


async def copy_journal(database: Database, session_id: str, path: Path) -> None:
    """Copy a session's journal from the database to `path` atomically. Raises DatabaseDown,
    OSError or sqlite3.Error.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.sqlite")
    rows = await SqliteRows.open(draft)
    try:
        try:
            await _copy_rows(database, session_id, rows)
            await rows.db.commit()
            await rows.db.execute_fetchall("PRAGMA journal_mode = DELETE")  # leaves a single file
        finally:
            await rows.close()
        await on_disk(draft.replace, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


async def _copy_rows(database: Database, session_id: str, rows: SqliteRows) -> None:
    for name, (columns, count) in _COPIED.items():
        asked = f"SELECT {columns} FROM {name} WHERE session = %s"
        ours, marks = columns.replace("::text", ""), ", ".join("?" * count)
        put = f"INSERT INTO {name} ({ours}) VALUES ({marks})"
        await rows.db.executemany(put, await database.ask(asked, (session_id,)))
    asked = "SELECT hash FROM bodies WHERE session = %s ORDER BY hash"
    names = [name for (name,) in await database.ask(asked, (session_id,))]
    wanted = "SELECT hash, packed FROM bodies WHERE session = %s AND hash = ANY(%s)"
    for at in range(0, len(names), BODIES_AT_ONCE):
        found = await database.ask(wanted, (session_id, names[at : at + BODIES_AT_ONCE]))
        await rows.db.executemany("INSERT INTO bodies (hash, packed) VALUES (?, ?)", found)


class _Cursor(AsyncCursor[DictRow]):
    """A cursor without pipelines. Within one, PostgreSQL 15 never ends idle transactions."""

    async def executemany(
        self, query: Query, params_seq: Iterable[Params], *, returning: bool = False
    ) -> None:
        for params in params_seq:
            await self.execute(query, params)  # type: ignore[arg-type] # psycopg: templates, too


class CheckpointSaver(AsyncPostgresSaver):
    """Saves a claimed session's checkpoints atomically. May raise DatabaseDown or ClaimLost."""

    def __init__(self, claim: SessionClaim, serde: Any) -> None:
        super().__init__(claim.database.pool, serde=serde)  # type: ignore[arg-type]
        self._claim = claim

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint named by `config`, or the last one."""
        return await self._claim.database.retry(partial(super().aget_tuple, config))

    async def aput(self, *args: Any, **named: Any) -> RunnableConfig:
        """Save a checkpoint."""
        return await self._claim.database.retry(partial(super().aput, *args, **named))

    async def aput_writes(self, *args: Any, **named: Any) -> None:
        """Save a node's output."""
        await self._claim.database.retry(partial(super().aput_writes, *args, **named))

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Open a cursor in a transaction. For writes (`pipeline`), check the claim first."""
        async with (
            self._claim.database.pool.connection() as connection,
            connection.transaction(),
            _Cursor(connection, row_factory=dict_row) as cursor,
        ):
            if pipeline:
                await self._check(cursor)
            yield cursor

    async def _check(self, cursor: AsyncCursor[DictRow]) -> None:
        claim = self._claim
        await cursor.execute(_HELD, (claim.session_id, claim.run))
        if await cursor.fetchone() is None:
            claim.lost = True
            raise ClaimLost(claim.session_id)
