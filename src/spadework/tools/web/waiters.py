"""Waiting for process-wide resources across event loops."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(eq=False)
class Waiter:
    """A waiter in the running event loop; `called` is done when its turn has come."""

    loop: asyncio.AbstractEventLoop = field(init=False)
    called: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.called = self.loop.create_future()

    def call(self) -> bool:
        """End the wait, from any thread. Return False if its event loop is closed."""
        try:
            self.loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            return False
        return True

    def _tell(self) -> None:
        if not self.called.done():
            self.called.set_result(None)
