"""Share places at resources, such as hosts, among machines with a common database.
Sessions need them in addition to the places of their process (`tools/web/fair_queue`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple


class Opening(NamedTuple):
    """The seconds until the next may begin, and those in which all must wait."""

    opens: float
    shut: float


@dataclass
class Visit:
    """A held place. Its holder may set `shut`, the seconds in which nobody may enter."""

    shut: float = 0.0


#: Receives the state of an awaited place; raises if waiting is pointless.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Wait however long it takes."""


#: Provides the places of the current session, as `shared_place` does.
Place = Callable[[str, Callable[[], int], float, Check], AbstractAsyncContextManager[Visit]]
SHARED: ContextVar[Place | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """Hold a place at `what`; at once if nothing is shared or the database does not respond.
    Waits while all machines hold `most` places, or the last one began less than `every` seconds
    ago.
    """
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared(what, most, every, check) as visit:
        yield visit
