"""Look up host names in separate threads, one per name, each with a deadline.
The system does it, because a DNS client would miss its hosts file, search domains and container
name servers. The event loop's own lookups would block threads that write files.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spadework.tools.web.background_threads import begin, settle

#: Seconds for a lookup. glibc tries the second name server after five.
SECONDS = 10.0
#: Maximum concurrent lookups. Others wait, within their own deadline.
MOST = 64
_HOW = ("family", "type", "proto", "flags")
Asked = tuple[Any, ...]


@dataclass(eq=False)
class _LookUp:
    asked: Asked
    until: float
    found: Future[list[Any]] = field(default_factory=Future)


class Resolver:
    """Resolves names with `look_up`, for all threads and event loops of the process."""

    def __init__(
        self,
        look_up: Callable[..., list[Any]] = socket.getaddrinfo,
        *,
        seconds: float = SECONDS,
        most: int = MOST,
    ) -> None:
        self._look_up, self._seconds, self._most = look_up, seconds, most
        self._lock = threading.Lock()
        self._asked: dict[Asked, _LookUp] = {}
        self._waiting: deque[_LookUp] = deque()
        self._running = 0

    @property
    def under_way(self) -> frozenset[str]:
        """The names being looked up or waiting to be."""
        with self._lock:
            return frozenset(str(asked[0]) for asked in self._asked)

    async def addresses(self, host: Any, port: Any, **how: int) -> list[Any]:
        """Return the result of `socket.getaddrinfo`, or raise its error. Raises socket.gaierror
        (EAI_AGAIN) without an answer in time, and at once if a lookup is overdue.
        """
        look_up = self._joined((host, port, *(how.get(name, 0) for name in _HOW)))
        try:
            async with asyncio.timeout(max(0.0, look_up.until - time.monotonic())):
                return await asyncio.wrap_future(look_up.found)
        except TimeoutError:
            said = f"no name server answered for {host} within {self._seconds:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, said) from None

    def _joined(self, asked: Asked) -> _LookUp:
        with self._lock:
            if (found := self._asked.get(asked)) is None:
                found = self._asked[asked] = _LookUp(asked, time.monotonic() + self._seconds)
                # Only the thread may settle it now, so that a cancelled caller does not affect
                # others.
                found.found.set_running_or_notify_cancel()
                self._waiting.append(found)
                self._start()
        return found

    def _start(self) -> None:
        while self._waiting and self._running < self._most:
            look_up = self._waiting.popleft()
            if time.monotonic() >= look_up.until:
                del self._asked[look_up.asked]
                continue
            self._running += 1
            begin(partial(self._do, look_up))

    def _do(self, look_up: _LookUp) -> None:
        settle(look_up.found, partial(self._look_up, *look_up.asked))
        with self._lock:
            del self._asked[look_up.asked]
            self._running -= 1
            self._start()


RESOLVER = Resolver()


def _after_fork() -> None:
    global RESOLVER  # its threads do not survive a fork
    RESOLVER = Resolver()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def addresses(host: Any, port: Any, **how: int) -> list[Any]:
    """Resolve a host, as `Resolver.addresses` does."""
    return await RESOLVER.addresses(host, port, **how)


def install_resolver() -> None:
    """Make the event loop, and therefore all HTTP libraries, resolve names with `RESOLVER`."""
    asyncio.get_running_loop().getaddrinfo = addresses  # type: ignore[method-assign]
