"""The chat: questions, follow-ups and commands."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from spadework.apps.messages import say
from spadework.apps.outputs import Output, print_report, write_output
from spadework.apps.terminal import commands as views
from spadework.apps.terminal.commands import (
    Ask,
    Command,
    Wrong,
    answer,
    choice,
    closing_line,
    parse,
    read_reply,
    source_number,
)
from spadework.apps.terminal.live_run import Run, progress_for
from spadework.apps.terminal.screen import is_plain, terminal_console
from spadework.errors import BudgetSpent, SpadeworkError
from spadework.events import Asked
from spadework.home import absolute
from spadework.sessions.one_call import receive
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_result, session_folder
from spadework.sessions.storage.session_list import readable_sessions
from spadework.settings import Settings
from spadework.values import Result
from spadework.visible import visible

MOST_LINE = 100_000


class Typed:
    """Reads lines typed in a terminal."""

    def __init__(self, history: Path, sessions: Callable[[], list[str]]) -> None:
        from spadework.apps.terminal.question_input import Commands, Prompt, Questions

        self._prompt = Prompt(history, Commands(sessions), keep_on_interrupt=True)
        self._questions = Questions()

    async def line(self) -> str | None:
        """Return the next line, or None after Ctrl-D."""
        from spadework.apps.terminal.question_input import LeftError

        try:
            return await self._prompt.line()
        except LeftError:
            return None

    async def answer(self, asked: Asked) -> str | None:
        """Return the user's answer, or None if they leave the run."""
        return await self._questions.answer(asked)


class Piped:
    """Reads lines from standard input. When a run asks a question, the next line answers it."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._more = threading.Semaphore(0)
        # A daemon thread does not keep the process alive. This one holds no locks, so it cannot
        # block the exit.
        threading.Thread(target=self._feed, args=(asyncio.get_running_loop(),), daemon=True).start()

    async def line(self) -> str | None:
        """Return the next line, or None at the end of input."""
        self._more.release()
        return await self._lines.get()

    async def answer(self, asked: Asked) -> str | None:
        """Return the next line as an answer. In a reply to a plan, semicolons separate changes."""
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
            with suppress(RuntimeError):  # if the loop is closed, nobody waits for lines
                loop.call_soon_threadsafe(
                    self._lines.put_nowait, None if over else line.decode(errors="replace")
                )


def _chunk() -> bytes:
    try:
        return os.read(sys.stdin.fileno(), 4_096)
    except (OSError, ValueError):
        return b""


HISTORY = "chat_history"


class Screen:
    """The chat's input and output. `live` is true if stdin and stdout are terminals."""

    def __init__(self) -> None:
        self.live = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self._console = _plain_console() if is_plain(sys.stdout) else terminal_console()

    def lines(self, home: Path, sessions: Callable[[], list[str]]) -> Typed | Piped:
        """Return the source of input lines: the terminal, or else standard input. `sessions`
        returns the session ids that Tab completes. Raises SettingsError if the history cannot be
        written in `home`.
        """
        return Typed(home / HISTORY, sessions) if self.live else Piped()

    def show(self, what: RenderableType) -> None:
        """Print output that the user requested."""
        # Without `Group`, the console would join texts and drop their wrapping settings.
        with self._console.capture() as capture:
            self._console.print(Group(what), crop=False)
        typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()), color=True)

    def say(self, text: str) -> None:
        """Print a message that is not part of an answer."""
        if self.live:
            self._console.print(Text(visible(text), "dim"))
        else:
            say(text, err=True)

    def report(self, result: Result) -> None:
        """Print a report and, in a terminal, what to type next."""
        print_report(result)
        if self.live:
            self._console.print(Text("\n") + closing_line(result))


def _plain_console() -> Console:
    width = None if sys.stdout.isatty() else 10_000
    return Console(
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None,
        force_terminal=False,
    )


NOTHING_YET = "There is no answer yet. Ask a question first."


class Chat:
    """A conversation, its last answer, and any run the user left."""

    def __init__(self, settings: Settings, screen: Screen) -> None:
        self._settings = settings
        self._lines = screen.lines(settings.home, self.unfinished)
        self._screen = screen
        self._last: Result | None = None
        self._left = ""
        self._commands: dict[str, Callable[[str], None]] = {
            "plan": lambda _: self._about_last(views.plan_view),
            "sources": lambda _: self._about_last(views.sources_view),
            "conflicts": lambda _: self._about_last(views.conflicts_view),
            "quote": self._quote,
            "help": lambda _: self._screen.show(views.help_view()),
            "new": lambda _: self._new(),
        }

    def go_on_from(self, session_id: str) -> None:
        """Make the next question follow up on a finished session. Raises SessionNotFound or
        SessionUnreadable.
        """
        self._last = read_result(session_folder(self._settings.home, session_id))

    async def run(self) -> None:
        """Process lines until /quit or the end of input."""
        if self._screen.live:
            self._screen.show(views.draw_header(self._settings, version("spadework")))
        while (line := await self._lines.line()) is not None:
            meant = parse(line)
            if isinstance(meant, Command) and meant.name == "quit":
                break
            try:
                await self._follow(meant)
            except (SpadeworkError, BudgetSpent, OSError) as error:
                self._screen.say(f"{error} {getattr(error, 'hint', '')}".strip())

    async def _follow(self, meant: Ask | Command | Wrong | None) -> None:
        if isinstance(meant, Wrong):
            self._screen.say(meant.said)
        elif isinstance(meant, Ask):
            await self._ask(meant.question)
        elif isinstance(meant, Command) and meant.name == "export":
            await self._export(meant.argument)
        elif isinstance(meant, Command) and meant.name == "resume":
            await self._resume(meant.argument)
        elif isinstance(meant, Command):
            self._commands[meant.name](meant.argument)

    async def _ask(self, question: str) -> None:
        greeted = await receive(question, self._settings)
        if not greeted.research:
            self._screen.show(Text(visible(greeted.answer)))
            return
        follows = self._last.session_id if self._last else ""
        await self._carry_out(Session.start(question, settings=self._settings, follows=follows))

    async def _carry_out(self, session: Session) -> None:
        self._left = session.session_id
        result = await Run(session, progress_for(session.budget), self._lines.answer).result()
        if result is None:
            self._screen.say("You left the run. To continue it, type /resume.")
            return
        self._left, self._last = "", result
        self._screen.report(result)

    async def _resume(self, session_id: str) -> None:
        session_id = session_id or self._left or next(iter(self.unfinished()), "")
        if not session_id:
            self._screen.say("There is no run to resume.")
            return
        await self._carry_out(Session.resume(session_id, home=self._settings.home))

    def unfinished(self) -> list[str]:
        """Return the ids of sessions without a report, newest first."""
        return [
            session.id for session in readable_sessions(self._settings.home) if not session.status
        ]

    async def _export(self, name: str) -> None:
        if self._last is None:
            self._screen.say(NOTHING_YET)
            return
        file = await asyncio.to_thread(_export_result, self._last, name)
        self._screen.show(Text(f"Wrote {file}"))

    def _about_last(self, view: Callable[[Result], RenderableType]) -> None:
        if self._last is None:
            self._screen.say(NOTHING_YET)
        else:
            self._screen.show(view(self._last))

    def _quote(self, argument: str) -> None:
        n = source_number(argument, len(self._last.sources)) if self._last else Wrong(NOTHING_YET)
        if isinstance(n, Wrong):
            self._screen.say(n.said)
        else:
            self._about_last(lambda result: views.quotes_view(result, n))

    def _new(self) -> None:
        self._last = None
        self._screen.say("The next question starts afresh.")


def _export_result(result: Result, name: str) -> Path:
    file = absolute(Path(name.strip("\"'")))
    Output(file).check()
    write_output(result, file)
    return file


def begin(settings: Settings, follows: str) -> None:
    """Chat until the user quits. If `follows` is a session id, the first question follows up on
    that session. Raises SettingsError, SessionNotFound or SessionUnreadable.
    """
    screen = Screen()
    if screen.live:
        asked = {
            name: True for name in ("clarify", "approve") if name not in settings.model_fields_set
        }
        settings = settings.with_(**asked)

    async def chat() -> None:  # `Piped` needs a running event loop
        chatting = Chat(settings, screen)
        if follows:
            chatting.go_on_from(follows)
        await chatting.run()

    asyncio.run(chat())
