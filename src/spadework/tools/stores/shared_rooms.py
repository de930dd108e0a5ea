"""Places at what all machines ask, beside those of the process (`spadework.tools.web.slots`): given
where a session has a database that machines share.

Without one, which is the rule, what the process allows is all there is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Opening(NamedTuple):
    """When the next may begin at something, and until when all are to keep away, in seconds from
    now.
    """

    opens: float
    shut: float


@dataclass
class Visit:
    """A place that is held. Who is told to come back later says here in how many seconds: until
    then nobody is let in.
    """

    shut: float = 0.0


#: Told how things stand while a place is waited for; raises where that leads to nothing.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Wait however long it takes."""


class SharedRooms(Protocol):
    """The places of all machines, as a session asks for them."""

    def place(
        self, what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
    ) -> AbstractAsyncContextManager[Visit]:
        """A place at `what`, waited for as long as `most` are there from all machines, or one came
        less than `every` seconds ago.

        Where the database does not answer soon, nobody waits for it: the place is given.
        """
        ...


#: Those of the session that this is done for.
SHARED: ContextVar[SharedRooms | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """See `SharedRooms.place`. At once where machines share nothing."""
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared.place(what, most, every, check) as visit:
        yield visit
