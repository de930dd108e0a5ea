"""Input lines of the chat: from a terminal with editing and history, or from stdin."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from spadework.apps.messages import say
from spadework.apps.terminal.commands import answer, choice, read_reply
from spadework.events import Asked

#: Maximum bytes of a line from standard input.
MOST_LINE = 100_000


class Typed:
    """Lines typed in a terminal."""

    def __init__(self, history: Path, sessions: Callable[[], list[str]]) -> None:
        from spadework.apps.terminal.prompt import Commands, Prompt
        from spadework.apps.terminal.questions import Questions

        self._prompt = Prompt(history, Commands(sessions), keep_on_interrupt=True)
        self._questions = Questions()

    async def line(self) -> str | None:
        """Return the next line; None after Ctrl-D."""
        from spadework.apps.terminal.prompt import LeftError

        try:
            return await self._prompt.line()
        except LeftError:
            return None

    async def answer(self, asked: Asked) -> str | None:
        """Return the user's answer; None leaves the run."""
        return await self._questions.answer(asked)


class Piped:
    """Lines of standard input. The next line answers a question."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._more = threading.Semaphore(0)
        # A thread waiting for a line must not keep the process alive: it reads the descriptor and
        # holds no Python lock.
        threading.Thread(target=self._feed, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def line(self) -> str | None:
        """Return the next line; None at the end."""
        self._more.release()
        return await self._lines.get()

    async def answer(self, asked: Asked) -> str | None:
        """Return the next line as answer; for a plan, its changes, separated by semicolons. Empty
        means continue.
        """
        said = await self.line() or ""
        if asked.kind == "clarify":
            chosen = choice(asked.options, said)
            return said if chosen is None else chosen
        if asked.plan is None:
            return ""
        plan = asked.plan
        for part in said.split(";"):
            reply = read_reply(plan, part)
            plan = reply.plan
            if reply.reason:
                say(reply.reason, err=True)
        return answer(asked.plan, plan)

    def _feed(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        while True:
            self._more.acquire()
            while b"\n" not in rest and len(rest) < MOST_LINE and (chunk := _chunk()):
                rest += chunk
            over = not rest
            line, _, rest = rest.partition(b"\n")
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(
                    self._lines.put_nowait, None if over else line.decode(errors="replace")
                )


def _chunk() -> bytes:
    try:
        return os.read(sys.stdin.fileno(), 4_096)
    except (OSError, ValueError):
        return b""
