"""Store each answer and its cost before the answer is used, so that a resumed run pays for nothing
twice. Store the bytes received too, so that a session can be replayed. Write events before the next
checkpoint is saved.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import aiosqlite
from pydantic import TypeAdapter, ValidationError

from spadework.budget import Amounts, Bill, Budget
from spadework.errors import BudgetSpent, FetchError, SpadeworkError
from spadework.events import VERSION, Event, Timed
from spadework.tools.stores.cassette import Recording
from spadework.tools.stores.exchanges import (
    Exchanges,
    Request,
    Tape,
    error_from_text,
    error_to_text,
)
from spadework.tools.stores.journal_rows import AnswerRow, JournalRows, claim_on, sum_charges
from spadework.tools.stores.session_database import SqliteRows

T = TypeVar("T")
#: A function that obtains an answer, by sending a request or by reading a stored reply.
Ask = Callable[[Tape], Awaitable[T]]


class Journal:
    """Stores a session's answers with their costs and times, or replays `recording` if given."""

    def __init__(
        self, rows: JournalRows, budget: Budget, recording: Recording | None = None
    ) -> None:
        self._rows = rows
        self._budget = budget
        self._exchanges = Exchanges(rows)
        self._running: dict[str, asyncio.Event] = {}
        #: True if the journal did not respond when last checked.
        self.hangs = False
        self.recording = recording

    @classmethod
    async def open(cls, path: Path, budget: Budget, *, recording: Recording | None = None) -> Self:
        """Open the journal, and load past usage into `budget`. Raises SessionUnreadable."""
        claim = claim_on(path.parent.name)
        rows = claim.journal_rows() if claim else await SqliteRows.open(path)
        journal = cls(rows, budget, recording)
        try:
            await journal._restore()
        except BaseException:
            await rows.abandon()
            raise
        return journal

    @property
    def connection(self) -> aiosqlite.Connection:
        """The journal's connection. Checkpoints share it: two writers would block each other."""
        assert isinstance(self._rows, SqliteRows)
        return self._rows.db

    def for_new_requests(self) -> Journal:
        """Return a journal for requests that the recording lacks."""
        return Journal(self._rows, self._budget)

    def asked_anew(self) -> None:
        """Count a request that a model answered because the recording could not."""
        if self.recording is not None:
            self.recording.asked_anew()

    async def answers(self, seconds: float) -> bool:
        """Return whether the journal responds within `seconds`, and set `hangs`."""
        asking = asyncio.ensure_future(self.count("report"))
        await asyncio.wait({asking}, timeout=seconds)
        self.hangs = not asking.done()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return not self.hangs

    async def close(self) -> None:
        """Store any usage not yet recorded with an answer, and close the journal."""
        try:
            if self._budget.loose.amounts and self.recording is None:
                await self.note("rest", {}, None)
        except BaseException:
            await self._rows.abandon()
            raise
        await self._rows.close()

    async def once(
        self, kind: str, key: Any, shape: type[T], work: Callable[[], Awaitable[T]]
    ) -> T:
        """Return the result of `work()`, which runs only once for each `kind` and `key` (JSON). A
        FetchError that is `final` is stored, and raised again by later calls.
        """
        asked = Request(kind, key)
        async with self._exclusive(asked, self._rows.answer) as row:
            if row is not None and (answer := _answer_in(row, shape)):
                self._budget.add(cache_hits=1)
                return answer[0]
            with self._budget.metered() as bill:
                try:
                    value = await work()
                except FetchError as error:
                    if error.final:
                        await self._keep(asked, None, error_to_text(error), bill)
                    raise
                said = TypeAdapter(shape).dump_json(value).decode()
                await self._keep(asked, said, None, bill)
            return value

    async def find(self, kind: str, key: Any, shape: type[T]) -> T | None:
        """Return the stored answer, or None if there is none. Raises a stored failure's error."""
        row = await self._rows.answer(Request(kind, key).key)
        answer = None if row is None else _answer_in(row, shape)
        return answer[0] if answer else None

    async def count(self, kind: str) -> int:
        """Return the number of stored answers of a kind."""
        return await self._rows.count(kind)

    async def exchange(self, request: Request, ask: Ask[T], read: Ask[T]) -> T:
        """Return `ask(tape)`, and store the reply that it records on the tape. If a reply is
        already stored, return `read(tape)` instead. Stored final failures are raised again.
        """
        if self.recording is not None:
            return await self._replay(self.recording, request, read)
        async with self._exclusive(request, self._exchanges.settled) as row:
            if row is not None:
                self._budget.add(cache_hits=1)
                return await read(row.whole())
            with self._budget.metered() as bill:
                tape = Tape()
                try:
                    value = await ask(tape)
                except (SpadeworkError, BudgetSpent) as error:
                    await self._put(request, tape, error_to_text(error), bill)
                    raise
                await self._put(request, tape, None, bill)
            return value

    async def charge(self, request: Request) -> Amounts:
        """Return a request's last charge as amounts keyed by Usage field, or {} if it has none."""
        found = await self._rows.exchanges(request.key)
        return json.loads(found[-1].used) if found else {}

    async def note(self, kind: str, key: Any, value: Any) -> None:
        """Record a value that a replay cannot reproduce, such as the time."""
        if self.recording is None:
            tape = Tape()
            tape.add({}, json.dumps(value).encode())
            await self._put(Request(kind, key), tape, None, Bill())

    async def paid(self, **amounts: float) -> None:
        """Record and charge Usage amounts that belong to no answer."""
        with self._budget.metered() as bill:
            self._budget.add(**amounts)
            await self._put(Request("paid", ""), Tape(), None, bill)

    async def noted(self, kind: str, key: Any, *, before: bool = False) -> Any:
        """Return the value that `note` recorded, or None if there is none. A replay looks in the
        recording. Other runs look in this session's journal if `before` is true, or else return
        None.
        """
        if self.recording is not None:
            return await self.recording.noted(Request(kind, key))
        row = await self._exchanges.settled(Request(kind, key).key) if before else None
        return json.loads(row.whole().last.body) if row else None

    async def moment(
        self, kind: str, key: Any, shape: Any, work: Callable[[], Awaitable[T]], otherwise: T
    ) -> T:
        """Return and record the result of `work()`, which has the type `shape`. A replay returns
        the recorded result, or `otherwise` if there is none.
        """
        kind_of: TypeAdapter[T] = TypeAdapter(shape)
        if self.recording is None:
            value = await work()
            if value != otherwise:
                await self.note(kind, key, kind_of.dump_python(value, mode="json"))
            return value
        try:
            found = await self.noted(kind, key)
            return otherwise if found is None else kind_of.validate_python(found)
        except ValidationError:
            return otherwise

    @asynccontextmanager
    async def _exclusive(
        self, request: Request, look: Callable[[str], Awaitable[T | None]]
    ) -> AsyncIterator[T | None]:
        """Yield the stored answer, or None to obtain it. Wait if another caller is obtaining it."""
        # The key includes the lookup function, because obtaining an answer may need an exchange
        # with the same request. Without the function in the key, that exchange would wait forever
        # for the answer that needs it.
        key = f"{look.__name__} {request.key}"
        while (found := await look(request.key)) is None and key in self._running:
            await self._running[key].wait()
        if found is not None:
            yield found
            return
        done = self._running[key] = asyncio.Event()
        try:
            yield None
        finally:
            del self._running[key]
            done.set()

    async def _replay(self, recording: Recording, request: Request, read: Ask[T]) -> T:
        row = await recording.row(request)
        self._budget.repeat(row.used, row.elapsed)
        if row.error is not None and isinstance(error := error_from_text(row.error), BudgetSpent):
            self._budget.refused = self._budget.refused or error.what
        return await row.reread(read)

    async def _keep(
        self, request: Request, answer: str | None, error: str | None, bill: Bill
    ) -> None:
        said = (request.key, request.kind, request.text[:500], answer, error)
        await self._rows.put_answer(AnswerRow(*said, self._charged(bill), self._budget.elapsed()))

    async def _put(self, request: Request, tape: Tape, error: str | None, bill: Bill) -> None:
        await self._exchanges.put(
            request, tape, error, lambda: (self._charged(bill), self._budget.elapsed())
        )

    def _charged(self, bill: Bill) -> str:
        bill.kept = True
        bill.add(self._budget.loose.take())
        return json.dumps(bill.amounts)

    async def _restore(self) -> None:
        await self._exchanges.measure()
        self._budget.refused = self._budget.refused or await self._exchanges.refused()
        if found := sum_charges(await self._rows.charges()):
            used, elapsed = found
            self._budget.start(self._budget.started - elapsed, used)


def _answer_in(row: tuple[str | None, str | None], shape: type[T]) -> tuple[T] | None:
    answer, error = row
    if error is not None:
        try:
            failure = error_from_text(error)
        except (ValueError, TypeError, LookupError):
            return None
        raise failure
    try:
        return (TypeAdapter(shape).validate_json(answer or "null"),)
    except ValidationError:
        return None


E = TypeVar("E", bound=Timed)
Write = Callable[[bytes], Awaitable[None]]


class Record:
    """A run's events. Without `write`, they stay in memory and are not queued for watchers. `clock`
    returns the run time in seconds.
    """

    def __init__(self, write: Write | None = None) -> None:
        self._write = write
        #: Maps each recorded event's key to True if all events with this key were failures.
        self._known: dict[str, bool] = {}
        self._lines: list[bytes] = []
        #: All events of the session, including those of earlier processes.
        self.events: list[Event] = []
        self._writing: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None
        #: A queue of events and other items for the run's watchers.
        self.told: asyncio.Queue[Any] = asyncio.Queue()
        self.clock: Callable[[], float] = lambda: 0.0

    def recall(self, events: Iterable[Event]) -> None:
        """Load the events recorded by the session's earlier processes."""
        for event in events:
            self.events.append(event)
            if event.key:
                self._known[event.key] = self._known.get(event.key, True) and event.failed

    def tell(self, event: E) -> E:
        """Record an event unless it was recorded before. Return the event with the time added."""
        now = {"v": VERSION, "at": datetime.now(UTC), "after": round(self.clock(), 3)}
        event = event.model_copy(update=now)
        if self._told_before(event):
            return event
        self.events.append(cast("Event", event))
        if self._write is None:
            return event
        self._lines.append(event.model_dump_json().encode() + b"\n")
        self.told.put_nowait(event)
        if self._writing is None and self._fault is None:
            self._writing = asyncio.create_task(self._written_down(self._write))
        return event

    def heard(self) -> Iterator[Event]:
        """Yield the queued events that no watcher has received yet."""
        while not self.told.empty():
            part = self.told.get_nowait()
            if isinstance(part, Timed):  # watchers may have queued other items
                yield cast("Event", part)

    async def written(self) -> None:
        """Wait until all events are written. Raises OSError."""
        while self._writing is not None:
            await asyncio.shield(self._writing)
        if self._fault:
            raise self._fault

    def _told_before(self, event: Timed) -> bool:
        """Return whether the event was recorded before. A success after failures counts as new."""
        if not (key := event.key):
            return False
        before = self._known.get(key)
        self._known[key] = event.failed and before is not False
        return before is False or (before is True and event.failed)

    async def _written_down(self, write: Write) -> None:
        try:
            while self._lines:
                lines, self._lines = self._lines, []
                await write(b"".join(lines))
        except OSError as fault:
            self._fault = fault
        finally:
            self._writing = None
