"""Keep the record of a run: every event in order, written before its step is saved.
The record of a killed run therefore holds every step that will not be repeated. Events that a
resumed run repeats are recorded once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from spadework.events import VERSION, Event, Timed

E = TypeVar("E", bound=Timed)
Write = Callable[[bytes], Awaitable[None]]


class Record:
    """The events of a run. `clock` returns the run time in seconds.
    Without `write`, which stores events, they are only collected, and watchers receive none.
    """

    def __init__(self, write: Write | None = None) -> None:
        self._write = write
        #: Keys of recorded events. The value is True if the event has only failed so far.
        self._known: dict[str, bool] = {}
        self._lines: list[bytes] = []
        #: All events of the session, including those of earlier processes.
        self.events: list[Event] = []
        self._writing: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None
        #: A queue for the run's watchers: events, and anything else they wait for.
        self.told: asyncio.Queue[Any] = asyncio.Queue()
        self.clock: Callable[[], float] = lambda: 0.0

    def recall(self, events: Iterable[Event]) -> None:
        """Load the events recorded by the session's earlier processes."""
        for event in events:
            self.events.append(event)
            if event.key:
                self._known[event.key] = self._known.get(event.key, True) and event.failed

    def tell(self, event: E) -> E:
        """Add the time to an event and return it.
        Record and send it unless it was recorded before.
        """
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
        """Wait until all events are written. Raises OSError if writing failed."""
        while self._writing is not None:
            await asyncio.shield(self._writing)
        if self._fault:
            raise self._fault

    def _told_before(self, event: Timed) -> bool:
        """Return whether an event was recorded before. A success after failures counts as new."""
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
