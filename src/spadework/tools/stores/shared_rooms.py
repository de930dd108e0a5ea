"""Share slots for resources, such as hosts, among machines with a common database.
They are needed in addition to the process's own slots (`tools/web/fair_queue`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple


class Opening(NamedTuple):
    """Seconds until the next may start, and seconds for which nobody may start."""

    opens: float
    shut: float


@dataclass
class Visit:
    """A slot that is held. Its holder may set `shut`, the seconds for which nobody may start."""

    shut: float = 0.0


#: Checks the state of an awaited slot. Raises an error if waiting is pointless.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Accept any waiting time."""


#: Provides the current session's slots, like `shared_place`.
Place = Callable[[str, Callable[[], int], float, Check], AbstractAsyncContextManager[Visit]]
SHARED: ContextVar[Place | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """Hold a slot for `what`.
    Waits while all machines together hold `most` slots, or the last one started less than `every`
    seconds ago. Returns at once if there is no common database, or it does not respond.
    """
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared(what, most, every, check) as visit:
        yield visit
