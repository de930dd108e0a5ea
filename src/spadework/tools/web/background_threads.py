"""Work beside the event loop that cannot be stopped, so that the end of the process must not wait
for it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: So many threads wait for more work; to start one takes the event loop a moment, and longer the
#: busier the machine is.
MOST_IDLE = 8


class _Helper(threading.Thread):
    """A thread that does one thing after the other, each handed over while it waits among the idle
    ones.
    """

    def __init__(self) -> None:
        super().__init__(name="aside", daemon=True)
        self.work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        self.work.get()()
        while len(_idle) < MOST_IDLE:
            _idle.append(self)
            self.work.get()()


_idle: deque[_Helper] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads are not copied


async def aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises, done in a thread that nothing waits for once the caller is
    cancelled.

    `asyncio.to_thread` would keep the process from ending until the work is done, however late that
    is.
    """
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()  # from now on only the thread settles it
    begin(partial(settle, outcome, partial(work, *args, **kwargs)))
    return await asyncio.wrap_future(outcome)


def settle(outcome: Future[T], work: Callable[[], T]) -> None:
    """Do some work, and hand what it returns or raises to who waits for its outcome."""
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - not handled here, but handed to the caller, whatever it is
        outcome.set_exception(error)
    else:
        outcome.set_result(result)


def begin(work: Callable[[], None]) -> None:
    """Begin work that raises nothing and that nobody waits for."""
    _helper().work.put(work)


def _helper() -> _Helper:
    """A thread that waits for work, or a new one."""
    try:
        return _idle.pop()
    except IndexError:
        return _Helper()
