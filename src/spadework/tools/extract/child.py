"""Read untrusted documents in separate processes, with time and memory limits."""

from __future__ import annotations

import asyncio
import atexit
import threading
from typing import Any

from spadework.errors import TooSlow, Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.process import Ended, Process, answer
from spadework.tools.web.background_threads import aside, begin
from spadework.tools.web.fair_queue import place

#: Maximum number of reading processes.
WORKERS = 2

#: Seconds for which a killed process may still appear alive.
DYING_SECONDS = 0.25
#: Idle processes, most recently used last. They outlive an event loop.
_idle: list[Process] = []
_live: set[Process] = set()


async def read_apart(
    body: bytes, *, media_type: str, url: str, charset: str = "", seconds: float
) -> Extracted:
    """Call `read_document` in another process, within `seconds` including waiting time.
    Also raises TooSlow at the deadline and Unreadable after a
    crash. The process is then killed, as it is on cancellation.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
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
        raise TooSlow(f"Reading the document took longer than {seconds:.3g} s.") from None
    except Ended:
        raise Unreadable("The document reader crashed.") from None


def warm() -> None:
    """Start a background process for the next document, unless one is idle."""
    if not _idle and len(_live) < WORKERS:
        process = _new()
        _idle.append(process)
        threading.Thread(target=process.start, name="warm", daemon=True).start()


async def _ask(process: Process, request: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        reply = await aside(process.ask, request, body)
    except BaseException:
        # This includes cancellation, because unfinished work would delay the next document.
        process.kill()
        # If the reply has just arrived, no other thread will clean up.
        begin(process.end)
        raise
    finally:
        if not process.usable:
            _live.discard(process)
    if process.usable:
        _idle.append(process)
    return reply


def _idle_process() -> Process | None:
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
