"""Reading untrusted documents in separate processes, within time and memory limits."""

from __future__ import annotations

import asyncio
import atexit
import threading
from typing import Any

from spadework.errors import TooSlow, Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.frames import answer
from spadework.tools.extract.office.office import modern, old_office
from spadework.tools.extract.process import Ended, Process
from spadework.tools.web.background_threads import aside, begin
from spadework.tools.web.fair_queue import place

#: Maximum reading processes at a time.
WORKERS = 2

#: Seconds that a killed process may still appear alive.
DYING_SECONDS = 0.25
#: Idle processes, the most recently used last. They outlive an event loop and end with this
#: process.
_idle: list[Process] = []
_live: set[Process] = set()


async def read_apart(
    body: bytes, *, media_type: str, url: str, charset: str = "", seconds: float
) -> Extracted:
    """Return what `read_document` returns, read in another process within `seconds`, waiting
    included.

    An old Office file is converted first. Raises the same errors; TooSlow at the deadline,
    Unreadable when the reader crashes or runs out of memory. The process is killed then, and when
    the caller is cancelled.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    if old := old_office(body):
        body, media_type = await modern(body, old, seconds=seconds), ""
    try:
        async with asyncio.timeout_at(until), place("the readers", id(loop), WORKERS):
            request = {
                "media_type": media_type,
                "url": url,
                "charset": charset,
                "seconds": until - loop.time(),
            }
            waited, began = _idle_process(), loop.time()
            try:
                return answer(await _ask(waited or _new(), request, body))
            except Ended:
                # A process killed while idle accepts requests until it is fully dead.
                if waited is None or loop.time() - began > DYING_SECONDS:
                    raise
                return answer(await _ask(_new(), request, body))
    except TimeoutError:
        raise TooSlow(f"The document was not read within {seconds:.3g} s.") from None
    except Ended:
        raise Unreadable("The reader of the document broke down.") from None


def warm() -> None:
    """Start a process for the next document if none is idle, without waiting for it."""
    if not _idle and len(_live) < WORKERS:
        process = _new()
        _idle.append(process)
        threading.Thread(target=process.start, name="warm", daemon=True).start()


async def _ask(process: Process, request: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        reply = await aside(process.ask, request, body)
    except BaseException:
        # Also on cancellation: its unfinished work would delay the next document.
        process.kill()
        # Its answer may have arrived just now, and then nobody waits for its end.
        begin(process.end)
        raise
    finally:
        if not process.usable:
            _live.discard(process)
    if process.usable:
        _idle.append(process)
    return reply


def _idle_process() -> Process | None:
    """Return an idle process that is still alive."""
    while _idle:
        process = _idle.pop()
        if process.usable:
            return process
        _live.discard(process)
        begin(process.end)
    return None


def _new() -> Process:
    process = Process()
    if not _live:
        atexit.register(_end_all)
    _live.add(process)
    return process


def _end_all() -> None:
    for process in list(_live):
        process.end()
