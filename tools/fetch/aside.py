"""Work beside the event loop that cannot be stopped, so that the end of the process must not wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns or raises, done in a thread of its own that nothing waits for once the caller is cancelled.

    `asyncio.to_thread` would keep the process from ending until the work is done, however late that is.
    """
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()  # from now on only the thread settles it

    def settle() -> None:
        try:
            result = work(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - not handled here, but handed to the caller, whatever it is
            outcome.set_exception(error)
        else:
            outcome.set_result(result)

    threading.Thread(target=settle, name=getattr(work, "__name__", "aside"), daemon=True).start()
    return await asyncio.wrap_future(outcome)
