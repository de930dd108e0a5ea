"""The record of a run: every event with its time, in order, written down before the step of the run
that told them. So a run that is killed at any moment has told of every step that it will not take
again. What it tells again when it is taken up stands in the record once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from spadework.events import VERSION, Event, Timed

E = TypeVar("E", bound=Timed)
#: Writes lines down, in the order of the calls.
Write = Callable[[bytes], Awaitable[None]]


class Record:
    """Hold what is told of a run, kept by `write`, if given; `clock` is the second of the run."""

    def __init__(self, write: Write | None = None) -> None:
        self._write = write
        #: Whether each thing that was told of has failed so far.
        self._known: dict[str, bool] = {}
        self._lines: list[bytes] = []
        #: What was told of the session so far, also by earlier processes.
        self.events: list[Event] = []
        self._writing: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None
        #: What was told, for who watches the run; others may put what they wait for among it.
        self.told: asyncio.Queue[Any] = asyncio.Queue()
        self.clock: Callable[[], float] = lambda: 0.0

    def recall(self, events: Iterable[Event]) -> None:
        """Know what earlier processes of the session have told."""
        for event in events:
            self.events.append(event)
            if event.key:
                self._known[event.key] = self._known.get(event.key, True) and event.failed

    def tell(self, event: E) -> E:
        """The event with its time, told and written down unless the same was told before."""
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
        """What was told and nobody has heard yet."""
        while not self.told.empty():
            part = self.told.get_nowait()
            if isinstance(part, Timed):  # others put there what they wait for, and may have left
                yield cast("Event", part)

    async def written(self) -> None:
        """Wait until all that was told is written down. Raises OSError where it cannot be."""
        while self._writing is not None:
            await asyncio.shield(self._writing)
        if self._fault:
            raise self._fault

    def _told_before(self, event: Timed) -> bool:
        """Whether the same was told; what has failed is told again once it is done."""
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
