"""Turn errors into exit codes (1 failed, 2 usage error, 130 interrupted), and end the process."""

from __future__ import annotations

import asyncio
import atexit
import errno
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import anyio

from spadework.apps.messages import say
from spadework.errors import BudgetSpent, SessionNotFound, SettingsError, SpadeworkError
from spadework.tools.web.background_threads import end_all

FAILED, USAGE, INTERRUPTED = 1, 2, 130
#: System errors that are not the user's fault.
_NOT_THE_USERS = (errno.ENOSPC, errno.EIO)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an error into one sentence on stderr and an exit code."""
    try:
        yield
    except SpadeworkError as error:
        say(describe_error(error), err=True)
        wrong = isinstance(error, SettingsError | SessionNotFound)
        raise SystemExit(USAGE if wrong else FAILED) from None
    except BudgetSpent as error:
        say(f"spadework: {error}", err=True)
        raise SystemExit(FAILED) from None
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            # The program that reads our output has exited, as `head` does in `spadework … | head`.
            sys.stderr.close()
            raise SystemExit(FAILED) from None
        say(f"spadework: {_describe_system_error(error)}"[:400], err=True)
        raise SystemExit(FAILED if _is_not_the_users(error) else USAGE) from None
    except KeyboardInterrupt:
        _tell_interrupted()
        raise SystemExit(INTERRUPTED) from None
    except SystemExit as error:
        # Typer handles Ctrl-C without printing a message.
        if _is_interrupt(error):
            _tell_interrupted()
        raise


def _tell_interrupted() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    say("spadework: interrupted.", err=True)
    signal.signal(signal.SIGINT, before)


def _is_interrupt(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return seen is not None


def describe_error(error: SpadeworkError) -> str:
    """Format an error and its hint in at most 400 characters."""
    return f"spadework: {error} {error.hint}".strip()[:400]


def _is_not_the_users(error: OSError | UnicodeError) -> bool:
    return isinstance(error, UnicodeEncodeError) or getattr(error, "errno", None) in _NOT_THE_USERS


def _describe_system_error(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError):
        name = str(error.filename)[-100:] if error.filename else "a file"
        return f"{name}: {error.strerror or error}."
    if isinstance(error, UnicodeEncodeError):
        lost = error.object[error.start : error.end][:20]
        return f"{lost!a} cannot be written in the encoding {error.encoding}."
    return "An argument or a file is not valid UTF-8 text."


LEAST_SECONDS, MOST_SECONDS = 0.5, 12.0


class Leaving:
    """Controls how the process exits. `alone` is set if the process runs only one command."""

    def __init__(self) -> None:
        self.alone = False
        self._code = 0
        self._closed = threading.Event()

    @contextmanager
    def for_good(self) -> Iterator[None]:
        """Run the `with` body as the process's only task, then exit without module teardown."""
        self.alone, self._code = True, 1
        atexit.register(self._flush)  # registered first, so called last
        try:
            yield
            self._code = 0
        except SystemExit as left:
            self._code = left.code if isinstance(left.code, int) else int(bool(left.code))
            raise

    def _flush(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self._code)

    def begin(self, left: float, code: int) -> None:
        """Exit with `code` after `left` seconds, but no sooner than LEAST_SECONDS and no later than
        MOST_SECONDS. `closed` can cancel this.
        """
        self._closed.clear()
        seconds = max(LEAST_SECONDS, min(left, MOST_SECONDS))
        threading.Thread(
            target=self._watch, args=(seconds, code), name="leaving", daemon=True
        ).start()

    def closed(self, home: Path) -> None:
        """If `alone`, record how long the exit takes. Otherwise, cancel `begin`'s deadline."""
        if not self.alone:
            self._closed.set()
            return
        from spadework.sessions.metrics.run_history import (
            took,  # imported here, because it would slow down the help text
        )

        began = time.monotonic()
        atexit.register(lambda: took(home, leaving=time.monotonic() - began))

    def _watch(self, seconds: float, code: int) -> None:
        if not self._closed.wait(seconds):
            end_all()
            self._code = code
            self._flush()


LEAVING = Leaving()
T = TypeVar("T")


class Left(Exception):
    """Work was abandoned. The message is the reason."""


async def apart(work: Coroutine[Any, Any, T], ends: Mapping[str, Coroutine[Any, Any, object]]) -> T:
    """Run `work` and return its result. If a coroutine in `ends` completes first, cancel `work` and
    raise Left with the coroutine's key as its message. Cancelling the caller cancels `work` too.
    """
    working = asyncio.create_task(work)
    ending = {asyncio.create_task(end): why for why, end in ends.items()}
    try:
        await asyncio.wait((working, *ending), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Left(next(why for task, why in ending.items() if task.done()))
        return working.result()
    finally:
        with anyio.CancelScope(shield=True):
            for task in (working, *ending):
                task.cancel()
            await asyncio.gather(working, *ending, return_exceptions=True)


async def with_pauses(events: AsyncIterator[T], seconds: float) -> AsyncGenerator[T | None, None]:
    """Yield the events, and None whenever `seconds` pass without an event."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait((coming,), timeout=seconds)
            if not coming.done():
                yield None
                continue
            if (event := coming.result()) is None:
                return
            yield event
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
