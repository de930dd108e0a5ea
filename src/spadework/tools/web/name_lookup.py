"""Looking up names of hosts: in threads that nothing else needs and nothing waits for, each name
once however many ask for it, and none for longer than a deadline.

The system does the looking up, so that its file of hosts, its search domains and the name servers
of containers count. A resolver that speaks DNS itself would not know them all; and the event loop's
own look-ups take its threads, which files are written in, for as long as a name server is silent.
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

#: Seconds that a name may take; the resolver of glibc asks the second server after five.
SECONDS = 10.0
#: Names that are looked up at the same time; more wait for their turn, within their seconds.
MOST = 64
#: What else is said of a name that is looked up, in the order of `socket.getaddrinfo`.
_HOW = ("family", "type", "proto", "flags")
Asked = tuple[Any, ...]


@dataclass(eq=False)
class _LookUp:
    asked: Asked
    until: float
    found: Future[list[Any]] = field(default_factory=Future)


class Resolver:
    """Looks names up by `look_up`, for every thread and event loop of the process."""

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
        """The names that are being looked up, or wait for it."""
        with self._lock:
            return frozenset(str(asked[0]) for asked in self._asked)

    async def addresses(self, host: Any, port: Any, **how: int) -> list[Any]:
        """What `socket.getaddrinfo` gives or raises, asked alike (`family`, `type`, `proto`,
        `flags`); socket.gaierror (EAI_AGAIN) without an answer, at once while one is overdue.
        """
        look_up = self._joined((host, port, *(how.get(name, 0) for name in _HOW)))
        try:
            async with asyncio.timeout(max(0.0, look_up.until - time.monotonic())):
                return await asyncio.wrap_future(look_up.found)
        except TimeoutError:
            said = f"no name server answered for {host} within {self._seconds:g} s"
            raise socket.gaierror(socket.EAI_AGAIN, said) from None

    def _joined(self, asked: Asked) -> _LookUp:
        """The look-up that is under way, or a new one."""
        with self._lock:
            if (found := self._asked.get(asked)) is None:
                found = self._asked[asked] = _LookUp(asked, time.monotonic() + self._seconds)
                # From now on only the thread settles it: who is cancelled takes it from nobody.
                found.found.set_running_or_notify_cancel()
                self._waiting.append(found)
                self._start()
        return found

    def _start(self) -> None:
        """Begin what waits, as far as there is room; what nobody waits for any more is dropped."""
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


#: The resolver of this process.
RESOLVER = Resolver()


def _after_fork() -> None:
    global RESOLVER  # its threads are not copied
    RESOLVER = Resolver()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def addresses(host: Any, port: Any, **how: int) -> list[Any]:
    """See `Resolver.addresses`."""
    return await RESOLVER.addresses(host, port, **how)


def own() -> None:
    """From here on the event loop looks up names here: libraries' HTTP clients have no place for a
    resolver, but all of them ask the event loop.
    """
    asyncio.get_running_loop().getaddrinfo = addresses  # type: ignore[method-assign]
