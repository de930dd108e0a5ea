"""Writing and reading the files of a session: in a few threads of its own, so that no work of
another kind, ours or a library's, keeps a report from being written.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

#: Errors of the system that are of files. Others are of connections, or of the process.
_OF_FILES = frozenset(
    code
    for name in (
        *("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "ESTALE", "ENXIO", "ENODEV", "EBUSY"),
        *("ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "EACCES", "EPERM"),
        *("ENAMETOOLONG", "ELOOP", "EMLINK", "EINVAL"),
    )
    if (code := getattr(errno, name, None)) is not None  # Windows has no quotas
)

P = ParamSpec("P")
T = TypeVar("T")

#: Files that are written or read at the same time.
THREADS = 4


def _new_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="files")


_pool = _new_pool()


def _after_fork() -> None:
    global _pool  # its threads are not copied
    _pool = _new_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def on_disk(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises, done in one of the threads for files. It is done to its end,
    also when the caller is cancelled, and before the process ends.
    """
    call = partial(work, *args, **kwargs)
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(_pool, call))


def disk_fault(error: BaseException | None) -> OSError | sqlite3.Error | None:
    """The error of the system or of SQLite at a file that this is, or that is in a group of errors;
    None where it is of another kind.
    """
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := disk_fault(one))), None)
    if isinstance(error, sqlite3.Error):
        return error
    return error if isinstance(error, OSError) and error.errno in _OF_FILES else None
