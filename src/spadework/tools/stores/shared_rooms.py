"""Places at what all machines ask, beside those of the process (`spadework.tools.web.slots`), where
a session has a database that machines share; without one, as a rule, there are none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple


class Opening(NamedTuple):
    """When the next may begin, and until when all keep away, in seconds from now."""

    opens: float
    shut: float


@dataclass
class Visit:
    """A held place. `shut` is in how many seconds its holder was told to come back: until then
    nobody is let in.
    """

    shut: float = 0.0


#: Told how things stand while a place is waited for; raises where that leads to nothing.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Wait however long it takes."""


#: What gives a place as `shared_place` does, for the session that this is done for.
Place = Callable[[str, Callable[[], int], float, Check], AbstractAsyncContextManager[Visit]]
SHARED: ContextVar[Place | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """A place at `what`, waited for while `most` are there from all machines, or one came less than
    `every` seconds ago; at once where nothing is shared, or the database is not there soon.
    """
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared(what, most, every, check) as visit:
        yield visit
