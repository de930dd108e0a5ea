"""Limit the process that reads untrusted documents, and exchange messages with it."""

from __future__ import annotations

import asyncio
import atexit
import codecs
import json
import math
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import IO, Any

from spadework.errors import Blocked, FetchError, TooLarge, TooSlow, Unreadable
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.web.background_threads import aside, begin, kill_group
from spadework.tools.web.fair_queue import place

_LENGTHS = struct.Struct("!II")
#: Maximum bytes in a frame's header. A larger header indicates a corrupt stream.
_MAX_HEADER = 500_000_000
#: Number of bytes to decode at a time, so that other threads can run in between.
_AT_ONCE = 1_000_000
_ERRORS = {error.__name__: error for error in (Blocked, TooLarge, TooSlow, Unreadable)}


def send(stream: IO[bytes], header: dict[str, Any], body: bytes = b"") -> None:
    """Write a header and a body as one frame."""
    head = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(head), len(body)) + head)
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read a frame. Raises EOFError if the stream ended or is corrupt."""
    head_length, body_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if head_length > _MAX_HEADER:
        raise EOFError
    try:
        header = json.loads(_exactly(stream, head_length))
    except ValueError:
        raise EOFError from None
    return header, _exactly(stream, body_length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError
    return found


def document_reply(found: Extracted) -> dict[str, Any]:
    """Return a reply that contains a document."""
    day = found.published_at.isoformat() if found.published_at else None
    return {"found": asdict(found) | {"published_at": day}}


def refusal_reply(error: FetchError) -> dict[str, Any]:
    """Return a reply that explains why there is no document."""
    return {"error": type(error).__name__, "message": str(error)}


def split_reply(reply: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a reply without its text, and the text as bytes: long JSON would block threads."""
    if "found" not in reply:
        return reply, b""
    found = dict(reply["found"])
    text: str = found.pop("markdown")
    return reply | {"found": found}, text.encode("utf-8", "surrogatepass")


def join_reply(header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Return a reply with the text that `split_reply` separated from it."""
    if "found" not in header:
        return header
    parts = (body[start : start + _AT_ONCE] for start in range(0, len(body), _AT_ONCE))
    text = "".join(codecs.iterdecode(parts, "utf-8", "surrogatepass"))
    return header | {"found": header["found"] | {"markdown": text}}


def answer(header: dict[str, Any]) -> Extracted:
    """Return a reply's document, or raise the FetchError it describes."""
    if "found" not in header:
        raise _ERRORS.get(header["error"], Unreadable)(header["message"])
    found = header["found"]
    published_at = datetime.fromisoformat(found["published_at"]) if found["published_at"] else None
    links = {name: tuple(Link(**one) for one in found[name]) for name in ("links", "figures")}
    return Extracted(**found | {"published_at": published_at} | links)


if sys.platform == "win32":  # On Windows, only the parent process can enforce limits.

    def limit_memory(size: int) -> None:
        """Do nothing, because Windows has no `setrlimit`."""

    def memory_taken() -> int:
        """Return 0, because memory use is unknown on Windows."""
        return 0

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """Do nothing, because Windows lacks the timer and pipe signals that this would need."""
        yield

else:
    import fcntl
    import resource
    import signal

    def limit_memory(size: int) -> None:
        """Limit this process's memory to `size` bytes, beyond which Python raises MemoryError."""
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    def memory_taken() -> int:
        """Return this process's peak memory in bytes."""
        # On Linux, the peak memory reported by getrusage starts at the parent's size, so read the
        # peak from /proc instead.
        with suppress(OSError, StopIteration):
            lines = Path("/proc/self/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1_024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1_024
        )

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """Have the system kill this process after `seconds`, or when the pipe's reader dies."""
        signal.setitimer(signal.ITIMER_REAL, seconds)
        _signal_when_closed(pipe, on=True)
        try:
            yield
        finally:
            _signal_when_closed(pipe, on=False)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _signal_when_closed(pipe: int, *, on: bool) -> None:
        """Set whether closing a pipe kills this process, which must not read from that pipe."""
        if hasattr(fcntl, "F_SETOWN"):
            fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
            flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
            fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)


#: The fraction of a document's time limit that may be spent on reading its pages.
SHARE = 0.5

_until: ContextVar[float] = ContextVar("reading_until", default=math.inf)


@contextmanager
def limit_reading(seconds: float) -> Iterator[None]:
    """Limit the time for reading pages in this context to the fraction SHARE of `seconds`."""
    token = _until.set(time.monotonic() + SHARE * seconds)
    try:
        yield
    finally:
        _until.reset(token)


def reading_until() -> float:
    """Return the page-reading deadline on the `time.monotonic()` clock, or infinity."""
    return _until.get()


#: The arguments for Python. -P keeps modules in the current folder from shadowing installed ones.
_PROGRAM = ("-P", "-m", "spadework.tools.extract.reader_program")
#: The environment variables that the process inherits. None of them holds an API key.
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR", "TEMP",
)  # fmt: skip


class Ended(Exception):
    """The process that reads documents ended before it replied."""


class Process:
    """A process that reads documents. All methods except `kill` may block."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = Lock()

    @property
    def usable(self) -> bool:
        """True if the process can take another request."""
        return not self._killed and (self._process is None or self._process.poll() is None)

    def start(self) -> subprocess.Popen[bytes]:
        """Return the process, starting it if necessary."""
        with self._lock:
            if self._process is None:
                own = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(
                    [sys.executable, *_PROGRAM],
                    stdin=pipe,
                    stdout=pipe,
                    stderr=subprocess.DEVNULL,
                    env=own,
                    start_new_session=True,
                )
            if self._killed:
                _kill(self._process)
            return self._process

    def ask(self, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Return the reply to a request. Raises Ended if the process ends."""
        process = self.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise EOFError
            send(process.stdin, request, body)
            reply = join_reply(*receive(process.stdout))
        except (OSError, EOFError, ValueError):
            # A ValueError means that another thread has closed the pipe.
            self.end()
            raise Ended from None
        if reply["last"]:
            self.end()
        return reply

    def kill(self) -> None:
        """Kill the process now, or as soon as it starts. A pending `ask` then raises Ended."""
        self._killed = True
        if self._process is not None:
            _kill(self._process)

    def end(self) -> None:
        """Kill the process and release its resources. This is thread-safe."""
        self.kill()
        with self._lock:
            process = self._process
        if process is None:
            return
        _kill(process)
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except (OSError, ValueError):
                # The pipe lost its reader, or another thread closed it.
                continue
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:  # Once it has ended, another process may have its id.
        kill_group(process)


#: Maximum number of reading processes.
WORKERS = 2

#: Seconds for which a killed process may still appear alive.
DYING_SECONDS = 0.25
#: Idle processes, with the most recently used last. They outlive event loops.
_idle: list[Process] = []
_live: set[Process] = set()


async def read_apart(
    body: bytes, *, media_type: str, url: str, charset: str = "", seconds: float
) -> Extracted:
    """Call `read_document` in another process. `seconds` includes the wait for a free process.
    Raises the errors of `read_document`, TooSlow at the deadline, and Unreadable after a crash.
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
                # An idle process that was killed a moment ago may still accept the request, so try
                # once more with a new process.
                if waited is None or loop.time() - began > DYING_SECONDS:
                    raise
                return answer(await _ask(_new(), request, body))
    except TimeoutError:
        raise TooSlow(f"Reading the document took longer than {seconds:.3g} s.") from None
    except Ended:
        raise Unreadable("The document reader crashed.") from None


def warm() -> None:
    """Start a process for the next document, unless one is idle."""
    if not _idle and len(_live) < WORKERS:
        process = _new()
        _idle.append(process)
        threading.Thread(target=process.start, name="warm", daemon=True).start()


async def _ask(process: Process, request: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        reply = await aside(process.ask, request, body)
    except BaseException:
        # Kill the process, because unfinished work would delay the next document.
        process.kill()
        # Also end the process here, because `ask` does not end it if the reply has just arrived.
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
