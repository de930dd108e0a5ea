"""A disk that does not answer holds no run: files are waited for a while, what is lost is said."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import ParamSpec

from spadework.tools.stores.disk import DiskHangs, on_disk

P = ParamSpec("P")
#: The share of the time left for which a file is waited for; so many seconds at most, and at least:
#: on a busy machine a sound disk takes more than half a second, too.
SHARE, MOST_SECONDS, LEAST_SECONDS = 0.1, 5.0, 1.0


class Late:
    """The files of a session that were not written in time. After the first of them nothing more
    is written until it is tried again: each would wait anew. `left` is how many seconds the run
    has.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.left: Callable[[], float] = lambda: math.inf
        self._hangs = False
        self._untold: list[str] = []
        self._known: set[str] = set()

    @property
    def seconds(self) -> float:
        """How long a file is waited for now; 0 where the disk does not answer."""
        return 0.0 if self._hangs else max(LEAST_SECONDS, min(MOST_SECONDS, SHARE * self.left()))

    def hangs(self, name: str) -> None:
        """A file does not answer: nothing more is written."""
        if not self._hangs and name not in self._known:
            self._known.add(name)
            self._untold.append(name)
        self._hangs = True

    def try_again(self) -> None:
        """Write again: it may have been the machine that was busy, and not the disk."""
        self._hangs = False

    def told(self) -> list[str]:
        """One sentence of each file that was not written in time, once."""
        untold, self._untold = self._untold, []
        return [
            f"{name} could not be written: the disk does not answer. No more is written of this"
            f" session; when it answers, `spadework resume {self._session_id}` writes it anew."
            for name in untold
        ]

    async def within(
        self, name: str, work: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Do what writes a file, in a thread for files, as long as the disk answers."""
        if not (seconds := self.seconds):
            return
        try:
            async with asyncio.timeout(seconds):
                await on_disk(work, *args, **kwargs)
        except (TimeoutError, DiskHangs):
            self.hangs(name)
