"""Work on the disk: off the event loop, and with a deadline."""

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
#: Files that are written or read at the same time.
THREADS = 4
#: How long one of them is waited for: so long takes no file of ours on a disk that works.
SECONDS = 20.0
#: Seconds that work on a file may take at least, however little is left of a run.
LEAST_SECONDS = 1.0
#: How long work is waited for that was cancelled.
STRUCK_SECONDS = 5.0


def _new_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="files")


_pool = _new_pool()


def _after_fork() -> None:
    global _pool  # its threads are not copied
    _pool = _new_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class DiskHangs(OSError):
    """A file was not written or read in its time; that may yet be done, or never."""

    def __init__(self, path: object, seconds: float) -> None:
        named = str(path) if isinstance(path, Path) else None
        super().__init__(errno.EIO, f"the disk does not answer within {seconds:.3g} s", named)


async def on_disk(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises, done in one of the threads for files. It is done to its end,
    also when the caller is cancelled, and before the process ends. Raises DiskHangs after SECONDS.
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
    """What `work` on the file at `path` gives in the seconds `left` of a run, or a little later.
    Raises DiskHangs where it takes longer; what becomes of it is nobody's. Who is cancelled as it
    is done has nothing of it: `undo` gives back what it has opened.
    """
    doing, seconds = asyncio.create_task(work), max(LEAST_SECONDS, left)
    try:
        await asyncio.wait({doing}, timeout=seconds)
    except asyncio.CancelledError:
        # It gives back what it has opened before anybody goes on; struck once more it could not.
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
    """Wait so long for work on a disk that does not answer; what then becomes of it is nobody's."""
    doing = asyncio.ensure_future(work)
    await asyncio.wait({doing}, timeout=seconds)
    doing.add_done_callback(_forgotten)
    doing.cancel()


def _forgotten(doing: asyncio.Future[Any]) -> None:
    """What becomes of work that nobody waits for is nobody's any more."""
    if not doing.cancelled():
        doing.exception()
