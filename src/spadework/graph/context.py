"""The context of a session: the live objects its nodes use (limit, journal, pages, providers,
reader, models), by session id.

They cannot be in the state, which is saved. Nodes find them by session id, so that a run saved in
one process continues in another, and a LangGraph server, which does not know our sessions, uses the
same graph.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

from spadework.agents.llm.client import Model
from spadework.agents.llm.examination import Examined
from spadework.budget import Budget
from spadework.deadline import Mark
from spadework.errors import SettingsError
from spadework.graph.effort.experience import Took
from spadework.graph.effort.workload import Workload, workload
from spadework.graph.pages.fallback_search import StandIns
from spadework.graph.pages.page_assignment import PageAssignment
from spadework.graph.parts import PagesAlone, Parts, Replay, open_parts
from spadework.settings import Settings
from spadework.tools.fetch.page_reader import Reader
from spadework.tools.library.library import Library
from spadework.tools.ranking.link_authority import LinkStore
from spadework.tools.stores.disk import in_time
from spadework.tools.stores.event_record import Record
from spadework.tools.stores.page_store import PageStore
from spadework.tools.stores.private_files import is_session_id
from spadework.values import Mode, Plan, Problem


def checked_session_id(session_id: str) -> str:
    """Return the id itself. Raises SettingsError if it could name a folder outside the sessions."""
    if not is_session_id(session_id):
        raise SettingsError(
            f"session_id cannot be {session_id[:80]!r}: letters, digits, - and _ are allowed."
        )
    return session_id


def new_session_id() -> str:
    """Return a session id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


T = TypeVar("T", bool, int, float, str)

#: Seconds that a context without a session is kept past its deadline and last use.
KEPT_SECONDS = 60.0

_contexts: dict[str, SessionContext] = {}
_opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


@dataclass
class SessionContext:
    """Shared objects of a session's nodes. `stop` is set when the user wants the report now."""

    session_id: str
    folder: Path
    settings: Settings
    budget: Budget
    parts: InitVar[Parts]
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    #: Distribution of pages, by question and round.
    tables: dict[tuple[str, int], PageAssignment] = field(default_factory=dict)
    #: What earlier runs took, newest first.
    experience: Sequence[Took] = ()
    #: Pages cleaned in the session, and those being cleaned.
    cleanings: int = field(init=False)
    cleaning: int = 0
    #: Search and model failures already reported, by stage and name.
    told: set[tuple[str, str]] = field(default_factory=set)
    #: Whether the saving of a slow model was reported.
    said_slow: bool = False
    #: The examination of the model: its result, or why there is none.
    examination: asyncio.Task[Examined | str] | None = None
    #: Whether it is examined first, once decided.
    examines: bool | None = None
    #: The model once it has passed its examination: only then it judges and writes.
    judging: Model | None = None
    #: Whether it has failed: then code judges, and no page is saved for it.
    unfit: bool = False
    #: True if no session opened it: the graph closes it at the end.
    owned_by_graph: bool = False
    keeper: asyncio.Task[None] | None = None
    #: When a node last used it (`time.monotonic`).
    asked_at: float = 0.0
    record: Record = field(default_factory=Record)

    def __post_init__(self, parts: Parts) -> None:
        self.journal = parts.journal
        self.pages = PageStore(self.folder / "pages")
        self.links = LinkStore(self.folder / "links")
        self.search = parts.search
        self.web, self.browser = parts.web, parts.browser
        self.reader = Reader(self.web, self.browser)
        self.libraries = parts.libraries
        self.model = parts.model
        #: The models that are called: in a replay for what was not recorded.
        self.asked = parts.asked
        self.page_cache = parts.page_cache
        #: Fallbacks if all providers fail.
        self.stand_ins = StandIns(parts.choice.spares)
        self.searching = tuple(provider.describes for provider in parts.choice.providers)
        self.notices = tuple(parts.choice.notices)
        #: Problems before the run began.
        self.problems = tuple(parts.problems)
        self.cleanings = parts.cleanings

    @property
    def library(self) -> Library | None:
        """The library, if searched."""
        return next(iter(self.libraries), None)

    @property
    def mode(self) -> Mode:
        """Whether a model or the extractive roles do the work."""
        return "model" if self.model else "extractive"

    @property
    def deep(self) -> bool:
        """Whether a model does extra checks."""
        return self.model is not None and self.settings.effort == "deep"

    @property
    def quick(self) -> bool:
        """Whether a model is called as little as possible."""
        return self.settings.effort == "quick"

    def told_once(self, problem: Problem) -> str:
        """Return a problem in words for watchers; "" if it was reported before."""
        who = (problem.stage, problem.subject)
        if who in self.told:
            return ""
        self.told.add(who)
        return f"{problem.reason} {problem.effect}".rstrip()

    def tell_into(self, record: Record) -> None:
        """Send all events of the run to a record."""
        self.record, record.clock = record, self.budget.elapsed
        if self.model:
            self.model.record = record

    async def noted(self, kind: str, key: Any, now: T, otherwise: T) -> T:
        """Record and return a value of `now`; in a replay, the recorded one or `otherwise`."""

        async def work() -> T:
            return now

        return await self.journal.moment(kind, key, type(otherwise), work, otherwise)

    async def narrowed(self, mark: Mark, at: str) -> bool:
        """Return whether less time than `mark` is left at a step; in a replay, whether it was."""
        return await self.noted("narrowed", [*mark, at], self.budget.under(mark), False)

    async def was_stopped(self, at: str) -> bool:
        """Return whether the user wants the report now; in a replay, whether they did at this
        step.
        """
        if await self.noted("stopped", at, self.stop.is_set(), False):
            self.stop.set()
        return self.stop.is_set()

    def workload(self, plan: Plan) -> Workload:
        """Return what a plan's workers may search and read."""
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
        """Open a session's folder, whose name is its id, and journal, choose providers (including
        the caller's, or those of a replayed session) and model, and register the context. Raises
        SettingsError for an unusable setting, DiskHangs if the folder does not respond in time.
        """
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
                # The client of a model takes seconds to import: the event loop goes on meanwhile.
                await asyncio.to_thread(context.asked.check)
        except BaseException:
            await context.close()
            raise
        return context

    async def close(self) -> None:
        """Close connections and files, and unregister the context."""
        _contexts.pop(self.session_id, None)
        if self.keeper and self.keeper is not asyncio.current_task():
            self.keeper.cancel()
        # Close each despite errors and cancellation.
        async with AsyncExitStack() as closing:
            for library in self.libraries:
                closing.callback(library.close)
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
    """Return a session's context, opening it once however many nodes ask."""
    if session_id not in _contexts:
        async with _opening.setdefault(session_id, asyncio.Lock()):
            if session_id not in _contexts:
                # The context of an enclosing graph is not our settings.
                own = settings if isinstance(settings, Settings) else Settings.load()
                folder = own.home / "sessions" / checked_session_id(session_id)
                context = await SessionContext.open(folder, own)
                context.owned_by_graph = True
                context.keeper = asyncio.create_task(_closed_in_the_end(context))
    context = _contexts[session_id]
    context.asked_at = time.monotonic()
    return context


async def _closed_in_the_end(context: SessionContext) -> None:
    """Close a context that only the graph knows, when its time or event loop ends. Waiting for the
    user extends the time.
    """
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
