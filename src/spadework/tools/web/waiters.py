"""Those who wait for something of the whole process, each in an event loop of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(eq=False)
class Waiter:
    """One who waits in the running event loop until `called` is done."""

    loop: asyncio.AbstractEventLoop = field(init=False)
    called: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.called = self.loop.create_future()

    def call(self) -> bool:
        """Say from any thread that the wait is over; False where its event loop is closed."""
        try:
            self.loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            return False
        return True

    def _tell(self) -> None:
        if not self.called.done():
            self.called.set_result(None)
