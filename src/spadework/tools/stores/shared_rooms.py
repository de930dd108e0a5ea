"""Places at resources shared by all machines, in addition to the process's own
(`tools/web/fair_queue`), for sessions with a shared database; without one there are normally
none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple


class Opening(NamedTuple):
    """When the next may begin, and until when all must wait, in seconds from now."""

    opens: float
    shut: float


@dataclass
class Visit:
    """A held place. `shut` is the seconds after which its holder may retry: until then
    nobody enters.
    """

    shut: float = 0.0


#: Receives the state while a place is awaited; raises if waiting is pointless.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Wait however long it takes."""


#: Provides a place as `shared_place` does, for the current session.
Place = Callable[[str, Callable[[], int], float, Check], AbstractAsyncContextManager[Visit]]
SHARED: ContextVar[Place | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """Hold a place at `what`, waiting while `most` are held by all machines, or the last began less
    than `every` seconds ago; at once if nothing is shared, or the database does not respond soon.
    """
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared(what, most, every, check) as visit:
        yield visit
