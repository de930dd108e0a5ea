"""Work beside the event loop that cannot be stopped, and that the process must not wait for."""

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
#: So many threads wait for work: to start one holds up the event loop, more so when busy.
MOST_IDLE = 8


class _Helper(threading.Thread):
    """A thread that does one thing after the other, handed over while it is idle."""

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
    """What `work` returns or raises, in a thread that nothing waits for once this is cancelled, nor
    the end of the process, as it would for `asyncio.to_thread`.
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
    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
    helper.work.put(work)
