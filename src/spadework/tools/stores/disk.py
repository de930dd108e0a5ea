"""Access files outside the event loop, with a deadline."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 4
#: Seconds allowed for a file operation, which is ample for a working disk.
SECONDS = 20.0
#: Minimum seconds allowed for a file operation, even after the run's deadline.
LEAST_SECONDS = 1.0
#: Seconds to wait for cancelled work to end.
STRUCK_SECONDS = 5.0


def _new_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="files")


_pool = _new_pool()


def _after_fork() -> None:
    global _pool  # threads do not survive a fork
    _pool = _new_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class DiskHangs(OSError):
    """A file operation took too long but might still succeed."""

    def __init__(self, path: object, seconds: float) -> None:
        named = str(path) if isinstance(path, Path) else None
        super().__init__(errno.EIO, f"the disk did not answer within {seconds:.3g} s", named)


async def on_disk(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a thread pool for files and return its result. Raises DiskHangs after SECONDS.
    Neither the error nor cancellation stops the work, and the process does not exit until the
    work ends.
    """
    call = partial(work, *args, **kwargs)
    doing = asyncio.get_running_loop().run_in_executor(_pool, call)
    try:
        await asyncio.wait({doing}, timeout=SECONDS)
        if doing.done():
            return doing.result()
        raise DiskHangs(next(iter(args), getattr(work, "__self__", None)), SECONDS)
    finally:
        if not doing.done():
            doing.add_done_callback(_forgotten)


async def in_time(
    work: Coroutine[Any, Any, T],
    path: Path,
    left: float,
    undo: Callable[[T], Coroutine[Any, Any, None]] | None = None,
) -> T:
    """Await `work` on the file at `path` for up to `left` seconds (at least LEAST_SECONDS), then
    cancel it and raise DiskHangs. If the caller is cancelled but the work still completes, call
    `undo` to release its result.
    """
    doing, seconds = asyncio.create_task(work), max(LEAST_SECONDS, left)
    try:
        await asyncio.wait({doing}, timeout=seconds)
    except asyncio.CancelledError:
        # A second cancellation would prevent the work's cleanup.
        if not doing.cancelling():
            doing.cancel()
        await asyncio.wait({doing}, timeout=min(seconds, STRUCK_SECONDS))
        if undo and doing.done() and not doing.cancelled() and not doing.exception():
            undoing = asyncio.ensure_future(undo(doing.result()))
            await asyncio.wait({undoing}, timeout=STRUCK_SECONDS)
        raise
    if doing.done():
        return doing.result()
    doing.add_done_callback(_forgotten)
    doing.cancel()
    raise DiskHangs(path, seconds)


async def let_go(work: Coroutine[Any, Any, None], seconds: float) -> None:
    """Await `work` for up to `seconds`, then cancel it without waiting. Its errors are ignored."""
    doing = asyncio.ensure_future(work)
    await asyncio.wait({doing}, timeout=seconds)
    doing.add_done_callback(_forgotten)
    doing.cancel()


def _forgotten(doing: asyncio.Future[Any]) -> None:
    if not doing.cancelled():
        doing.exception()
