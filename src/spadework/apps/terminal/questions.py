"""Questions to the user in a terminal: the question's meaning, and approval of the plan."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from spadework.apps.terminal.commands import (
    Reply,
    answer,
    choice,
    how_to_answer,
    names,
    read_reply,
    replace_topics,
)
from spadework.apps.terminal.prompt import LeftError, Prompt
from spadework.apps.terminal.screen import WIDEST
from spadework.events import APPROVE, Asked
from spadework.tools.text.markdown import one_line
from spadework.values import Plan

#: Commands that leave a run at a question; it can be resumed later.
LEAVE = ("/stop", "/quit")


class Questions:
    """Asks on the terminal. An answer is None if the user leaves the run."""

    def __init__(self) -> None:
        self._prompt = Prompt()
        stream = sys.stderr if sys.stderr.isatty() else sys.stdout
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)

    async def answer(self, asked: Asked) -> str | None:
        """Return the user's answer."""
        try:
            return await (self._clarify(asked) if asked.kind == "clarify" else self._approve(asked))
        except LeftError:
            return None

    async def _clarify(self, asked: Asked) -> str | None:
        how = "a number or your own words" if asked.options else "your answer"
        self._show(
            one_line(asked.text, 1_000),
            asked.options,
            f"Type {how}; Enter goes on without.",
        )
        while True:
            line = await self._prompt.line()
            if line.strip() in LEAVE:
                return None
            if (said := choice(asked.options, line)) is not None:
                return said
            self._say(
                f"There are {len(asked.options)} answers to choose from: type a number from 1 to"
                f" {len(asked.options)}, or words."
            )

    async def _approve(self, asked: Asked) -> str | None:
        if asked.plan is None:
            return ""
        reply = Reply(asked.plan, "" if asked.text == APPROVE else asked.text)
        if reply.reason:
            self._say(reply.reason)
            reply = Reply(asked.plan)
        shown: Plan | None = None
        while not reply.done:
            if reply.wish:
                return answer(asked.plan, reply.plan, reply.wish)
            if reply.reason:
                self._say(reply.reason)
            if not reply.reason or reply.plan != shown:
                shown = reply.plan
                recent = " (pages of the last year)" if shown.freshness == "recent" else ""
                self._show(f"Plan{recent}:", names(shown), how_to_answer())
            line = await self._prompt.line()
            if line.strip() in LEAVE:
                return None
            reply = read_reply(reply.plan, line)
            if reply.edit:
                reply = await self._edited(reply.plan)
        return answer(asked.plan, reply.plan)

    async def _edited(self, plan: Plan) -> Reply:
        self._say("One topic a line. Ctrl-D is done, Ctrl-C leaves the list as it was.")
        try:
            shown = "\n".join(one_line(name) for name in names(plan))
            return replace_topics(plan, await self._prompt.lines(shown))
        except LeftError:
            return Reply(plan)

    def _show(self, head: str, lines: Sequence[str], how: str) -> None:
        numbered = [Text(f"  {n}. {one_line(line)}") for n, line in enumerate(lines, 1)]
        for line in (Text(head, "bold"), *numbered, Text(how, "dim")):
            self._console.print(line, width=min(WIDEST, self._console.width))

    def _say(self, text: str) -> None:
        self._console.print(Text(text, "dim"))
