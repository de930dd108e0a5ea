"""Blocking work in threads that the process does not wait for at exit."""

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
#: Idle threads kept: starting one holds up the event loop, more so when it is busy.
MOST_IDLE = 8


class _Helper(threading.Thread):
    """A reusable thread that takes one task after another."""

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
    os.register_at_fork(after_in_child=_idle.clear)  # threads do not survive a fork


async def aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread and return its result. Neither cancellation nor the end of the process
    waits for the thread, as they would with `asyncio.to_thread`.
    """
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()  # from now on only the thread settles it
    begin(partial(settle, outcome, partial(work, *args, **kwargs)))
    return await asyncio.wrap_future(outcome)


def settle(outcome: Future[T], work: Callable[[], T]) -> None:
    """Run `work` and pass its result or exception to `outcome`."""
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - passed to the caller
        outcome.set_exception(error)
    else:
        outcome.set_result(result)


def begin(work: Callable[[], None]) -> None:
    """Start work that raises nothing and whose result nobody needs."""
    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
    helper.work.put(work)
