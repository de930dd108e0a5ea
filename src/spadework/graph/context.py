"""Keep each session's live objects, which saved state cannot hold. Nodes look them up by session
id, so that saved runs can continue in another process.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakValueDictionary

from spadework.agents.llm.client import Model
from spadework.agents.llm.examination import Examined
from spadework.budget import Budget
from spadework.deadline import Late, Mark
from spadework.errors import SettingsError, must_be
from spadework.events import Event
from spadework.graph.effort.workload import Stopped, Workload, unless_stopped, workload
from spadework.graph.pages.page_assignment import PageAssignment
from spadework.graph.parts import PagesAlone, Parts, Replay, StandIns, open_parts
from spadework.settings import Settings
from spadework.tools.fetch.page_reader import Reader
from spadework.tools.library.library import Library
from spadework.tools.ranking.selection import LinkStore
from spadework.tools.search.provider import RESULTS
from spadework.tools.stores.disk import in_time
from spadework.tools.stores.journal import Record
from spadework.tools.stores.private_files import is_session_id
from spadework.tools.text.page_text import PageStore
from spadework.values import Mode, Plan, Problem

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from spadework.graph.effort.forecast import Took


def checked_session_id(session_id: str) -> str:
    """Return the id. Raises SettingsError if it is not a safe folder name."""
    if not is_session_id(session_id):
        raise SettingsError(must_be("session_id", "made of letters, digits, - and _", session_id))
    return session_id


def new_session_id() -> str:
    """Return a new session id. Ids sort by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


R = TypeVar("R")
T = TypeVar("T", bool, int, float, str)

#: Seconds to keep a context that the graph opened, counted from the context's deadline or last use,
#: whichever is later.
KEPT_SECONDS = 60.0
#: `run_in_time` allows at least this many seconds, even if its phase has less time left.
LEAST_SECONDS = 0.5

_contexts: dict[str, SessionContext] = {}
_opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


@dataclass
class SessionContext:
    """A session's live objects. `stop` is set when the user wants the report now."""

    session_id: str
    folder: Path
    settings: Settings
    budget: Budget
    parts: InitVar[Parts]
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    #: Which pages are assigned to which topics, by question and round.
    tables: dict[tuple[str, int], PageAssignment] = field(default_factory=dict)
    #: The resources that earlier runs used, newest run first.
    experience: Sequence[Took] = ()
    #: How many pages have been cleaned, and how many are being cleaned.
    cleanings: int = field(init=False)
    cleaning: int = 0
    #: Failures already reported, by stage and subject.
    told: set[tuple[str, str]] = field(default_factory=set)
    #: The task that tests the model. It returns the test result, or a string that says why there
    #: was no test.
    examination: asyncio.Task[Examined | str] | None = None
    #: True if this run tests its model; None until that is decided.
    examines: bool | None = None
    #: The model that judges, set once it has passed its test.
    judging: Model | None = None
    #: True if the model failed its test. Fixed rules then judge instead.
    unfit: bool = False
    #: True if the graph must close this context.
    owned_by_graph: bool = False
    keeper: asyncio.Task[None] | None = None
    #: When a node last used the context (`time.monotonic`).
    asked_at: float = 0.0
    record: Record = field(default_factory=Record)

    def __post_init__(self, parts: Parts) -> None:
        self.journal = parts.journal
        self.pages = PageStore(self.folder / "pages")
        self.links = LinkStore(self.folder / "links")
        self.figures = LinkStore(self.folder / "figures", most_chars=2_000)
        self.search = parts.search
        #: Maximum hits requested per query.
        self.most_hits = RESULTS[self.settings.effort]
        self.web, self.browser = parts.web, parts.browser
        self.reader = Reader(self.web, self.browser)
        self.libraries = parts.libraries
        self.model = parts.model
        #: The model that answers requests for which no answer is recorded, or None.
        self.asked = parts.asked
        self.page_cache = parts.page_cache
        self.stand_ins = StandIns(parts.choice.spares)
        self.searching = tuple(provider.describes for provider in parts.choice.providers)
        self.notices = tuple(parts.choice.notices)
        #: Problems that occurred before the run.
        self.problems = tuple(parts.problems)
        self.cleanings = parts.cleanings

    @property
    def library(self) -> Library | None:
        """The library to search, if any."""
        return next(iter(self.libraries), None)

    @property
    def mode(self) -> Mode:
        """The run's mode, "model" or "extractive" (without a model)."""
        return "model" if self.model else "extractive"

    @property
    def deep(self) -> bool:
        """True at deep effort with a model, which then makes extra checks."""
        return self.model is not None and self.settings.effort == "deep"

    @property
    def quick(self) -> bool:
        """True at quick effort, which calls a model as little as possible."""
        return self.settings.effort == "quick"

    def told_once(self, problem: Problem) -> str:
        """Return the text of a problem, or "" if it was already reported."""
        who = (problem.stage, problem.subject)
        if who in self.told:
            return ""
        self.told.add(who)
        return f"{problem.reason} {problem.effect}".rstrip()

    def tell_into(self, record: Record) -> None:
        """Send all events of the run to `record`."""
        self.record, record.clock = record, self.budget.elapsed
        if self.model:
            self.model.record = record

    async def noted(self, kind: str, key: Any, now: T, otherwise: T) -> T:
        """Record and return `now`. A replay returns the recorded value, or else `otherwise`."""

        async def work() -> T:
            return now

        return await self.journal.moment(kind, key, type(otherwise), work, otherwise)

    async def run_in_time(self, seconds: float, at: Any, work: Callable[[Late], R]) -> R:
        """Run `work` in a thread, passing it a function that returns whether `seconds` have
        passed. In a replay, that function repeats its recorded answers.
        """
        numbers, until = count(), time.monotonic() + max(LEAST_SECONDS, seconds)
        first = await self.noted("late from", at, sys.maxsize, sys.maxsize)

        def is_late() -> bool:
            nonlocal first
            number = next(numbers)
            if self.journal.recording is None and time.monotonic() > until:
                first = min(first, number)
            return number >= first

        made = await asyncio.to_thread(work, is_late)
        await self.noted("late from", at, first, sys.maxsize)
        return made

    async def narrowed(self, mark: Mark, at: str) -> bool:
        """Return whether the time left is below `mark`, and record the answer for replays."""
        return await self.noted("narrowed", [*mark, at], self.budget.under(mark), False)

    async def was_stopped(self, at: str) -> bool:
        """Return whether the user wants the report now. A replay stops at the recorded step."""
        if await self.noted("stopped", at, self.stop.is_set(), False):
            self.stop.set()
        return self.stop.is_set()

    def workload(self, plan: Plan) -> Workload:
        """Return how much each worker may search and read."""
        judged = self.model is not None and not self.unfit
        return workload(plan, self.settings, model=judged)

    @classmethod
    async def open(
        cls,
        folder: Path,
        settings: Settings,
        budget: Budget | None = None,
        *,
        stop: asyncio.Event | None = None,
        progress: Callable[[str], None] | None = None,
        providers: Sequence[Any] | Replay | PagesAlone = (),
    ) -> Self:
        """Open a session's folder, journal, providers and model, and register the context."""
        budget, stop = budget or Budget.of(settings), stop or asyncio.Event()
        session_id = checked_session_id(folder.name)

        async def opened() -> Self:
            parts = await open_parts(folder, settings, budget, stop, progress, providers)
            context = cls(session_id, folder, settings, budget, parts, stop)
            _contexts[session_id] = context
            return context

        context: Self = await in_time(
            opened(), folder / "session.sqlite", budget.seconds_left(), cls.close
        )
        try:
            if context.asked:
                # Importing a model client takes seconds, so it runs in a thread.
                await asyncio.to_thread(context.asked.check)
        except BaseException:
            await context.close()
            raise
        return context

    async def index_library(self, question: str) -> None:
        """Stop the run's clock and build the missing library indexes for `question`. End early if
        the user wants the report now. Raises SearchError, or SettingsError if an index cannot be
        written.
        """
        seconds = self.budget.until_closing()
        self.budget.pause()
        try:
            with suppress(TimeoutError, Stopped):
                for library in self.libraries:
                    await unless_stopped(self.stop, library.build(question), seconds=seconds)
        finally:
            self.budget.go_on()
        await self.note_searching("start")

    async def note_searching(self, at: str = "") -> None:
        """Update `searching`, the descriptions of open providers. `at` is the step, for replays."""

        async def now() -> tuple[str, ...]:
            return tuple(one.describes for one in (*self.search.providers, *self.stand_ins.opened))

        shape, before = tuple[str, ...], self.searching
        self.searching = await self.journal.moment("searched", at, shape, now, before)

    async def close(self) -> None:
        """Close connections and files, and unregister the context."""
        _contexts.pop(self.session_id, None)
        if self.keeper and self.keeper is not asyncio.current_task():
            self.keeper.cancel()
        # If closing one resource fails, the remaining ones must still be closed.
        async with AsyncExitStack() as closing:
            for library in self.libraries:
                closing.push_async_callback(library.close)
            closing.push_async_callback(self.journal.close)
            closing.push_async_callback(self.search.close)
            closing.push_async_callback(self.page_cache.close)
            closing.push_async_exit(self.web)
            closing.push_async_exit(self.browser)
            if self.model:
                closing.push_async_callback(self.model.close)
            if self.examination:
                self.examination.cancel()
                await asyncio.wait({self.examination})


async def context_of(session_id: str, settings: Settings | None) -> SessionContext:
    """Return a session's context, opening it on first use."""
    if session_id not in _contexts:
        async with _opening.setdefault(session_id, asyncio.Lock()):
            if session_id not in _contexts:
                # An enclosing graph may pass another type of context.
                own = settings if isinstance(settings, Settings) else Settings.load()
                folder = own.home / "sessions" / checked_session_id(session_id)
                context = await SessionContext.open(folder, own)
                context.owned_by_graph = True
                context.keeper = asyncio.create_task(_closed_in_the_end(context))
    context = _contexts[session_id]
    context.asked_at = time.monotonic()
    return context


async def _closed_in_the_end(context: SessionContext) -> None:
    try:
        while True:
            deadline = context.budget.started + context.budget.seconds
            kept_until = max(deadline, context.asked_at) + KEPT_SECONDS
            if (seconds := kept_until - time.monotonic()) <= 0:
                break
            await asyncio.sleep(seconds)
    finally:
        if _contexts.get(context.session_id) is context:
            await context.close()


Emit = Callable[[Event], None]


def emitter(context: SessionContext, runtime: Runtime[Settings]) -> Emit:
    """Return a function that records and streams events."""

    def emit(event: Event) -> None:
        runtime.stream_writer(context.record.tell(event).model_dump(mode="json"))

    return emit
