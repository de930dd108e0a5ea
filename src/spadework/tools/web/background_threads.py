"""Run blocking work in threads that do not keep the process alive, and stop child processes."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    import subprocess
    from asyncio.subprocess import Process

    import psutil

P = ParamSpec("P")
T = TypeVar("T")
#: Maximum number of idle threads to keep, because starting a thread delays a busy event loop.
MOST_IDLE = 8
_ENDS: set[Callable[[], None]] = set()


class _Helper(threading.Thread):
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
    """Run `work` in a thread and return its result. Cancellation and exit do not wait for it."""
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()  # prevents cancellation, which would reject its result
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
    """Run `work`, which must not raise, in a thread."""
    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
    helper.work.put(work)


def kill_group(process: subprocess.Popen[Any] | Process | psutil.Process) -> None:
    """Kill a process and its group, unless it has ended."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Call `end`, which stops a child process, if this process exits within the context."""
    _ENDS.add(end)
    try:
        yield
    finally:
        _ENDS.discard(end)


def end_all() -> None:
    """Stop all child processes registered with `ended_by`."""
    for end in tuple(_ENDS):
        end()
