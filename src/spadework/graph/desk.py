"""The desk of a session: the live things its nodes work with (purse, journal, pages, providers,
reader, models), by session id.

They cannot stand in the state, which is saved; a node finds them by the session's id, so that a run
that was saved in one process goes on in another, and so that a LangGraph server, which knows no
sessions of ours, works with the same graph.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, cast

from spadework.agents.examination import Examined
from spadework.agents.model import Model
from spadework.budget import Budget
from spadework.deadline import WRITE_NOW, Mark, shares_of
from spadework.errors import ModelError, SettingsError
from spadework.graph.dealing import Table
from spadework.graph.experience import Took
from spadework.graph.knowing import Knowing
from spadework.graph.models import default_model
from spadework.graph.opened import Opened, PagesAlone, Replay
from spadework.graph.standing_in import StandIns
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.graph.workload import Workload, workload
from spadework.settings import Settings
from spadework.tools.dense.meaning import meaning_of
from spadework.tools.disk import in_time
from spadework.tools.fetch.browser.handle import Browser
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.reader import Reader
from spadework.tools.ids import is_session_id
from spadework.tools.journal import Journal
from spadework.tools.knowledge import knowledge_of
from spadework.tools.library import Library
from spadework.tools.links import LinkStore
from spadework.tools.pages import PageStore
from spadework.tools.private import private_folder
from spadework.tools.record import Record
from spadework.tools.search.choose import Choice, choose
from spadework.tools.search.failover import Search
from spadework.tools.search.waits import Waits
from spadework.tools.urls import host_of
from spadework.values import Mode, Plan, Problem

#: Seconds past its deadline for which a desk that no session owns is kept.
KEPT_SECONDS = 60.0

_NO_TIME = Choice((), ("There was no time to open what is searched.",))

_desks: dict[str, Desk] = {}
_opening: dict[str, asyncio.Lock] = {}


def checked_session_id(session_id: str) -> str:
    """The id itself. Raises SettingsError for one that could name a folder outside the sessions."""
    if not is_session_id(session_id):
        raise SettingsError(
            f"session_id cannot be {session_id[:80]!r}: letters, digits, - and _ are allowed."
        )
    return session_id


def new_session_id() -> str:
    """A session id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass
class Desk:
    """What the nodes of one session share. `stop` is set when the user wants the report now."""

    session_id: str
    folder: Path
    settings: Settings
    budget: Budget
    journal: Journal
    pages: PageStore
    links: LinkStore
    search: Search
    reader: Reader
    web: Web
    browser: Browser
    libraries: list[Library]
    model: Model | None
    #: The models that are asked: in a replay for what was not recorded.
    asked: Model | None
    knowing: Knowing
    #: Who is asked where all providers have failed.
    stand_ins: StandIns
    searching: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    #: What went wrong before the run began.
    problems: tuple[Problem, ...] = ()
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    #: Where pages are dealt out, by question and round.
    tables: dict[tuple[str, int], Table] = field(default_factory=dict)
    #: What earlier runs took, the newest first.
    experience: Sequence[Took] = ()
    #: Pages that were put before the cleaner in the session, and those of them that are with it
    #: now.
    cleanings: int = 0
    cleaning: int = 0
    #: What could not be searched or asked, by stage and name, as far as it was told.
    told: set[tuple[str, str]] = field(default_factory=set)
    #: Whether it was said that the model is spared since it is slow, which is said once.
    said_slow: bool = False
    #: The examination of the model: its result, or why there is none.
    examination: asyncio.Task[Examined | str] | None = None
    #: The model, once it has passed its examination: only then it judges and writes.
    judging: Model | None = None
    #: Whether it is known to have failed: then code judges what is read, and no page is saved.
    unfit: bool = False
    #: True when no session opened it: the graph closes it at its end.
    owned_by_graph: bool = False
    keeper: asyncio.Task[None] | None = None
    #: What is told of the run.
    record: Record = field(default_factory=Record)

    @property
    def library(self) -> Library | None:
        """The library, where it is searched."""
        return next(iter(self.libraries), None)

    @property
    def mode(self) -> Mode:
        """Whether a model or the extractive roles do the work."""
        return "model" if self.model else "extractive"

    @property
    def deep(self) -> bool:
        """Whether a model checks more than it must."""
        return self.model is not None and self.settings.effort == "deep"

    @property
    def quick(self) -> bool:
        """Whether a model is asked as little as can be."""
        return self.settings.effort == "quick"

    def told_once(self, problem: Problem) -> str:
        """What went wrong, in words for those who watch; "" where the same one has failed
        before.
        """
        who = (problem.stage, problem.subject)
        if who in self.told:
            return ""
        self.told.add(who)
        return f"{problem.reason} {problem.effect}".rstrip()

    def tell_into(self, record: Record) -> None:
        """Have all that is told of the run put into a record."""
        self.record, record.clock = record, self.budget.elapsed
        if self.model:
            self.model.record = record

    async def narrowed(self, mark: Mark, at: str) -> bool:
        """Whether less time than `mark` is left at a step of the run; in a replay, whether it
        was.
        """

        async def under() -> bool:
            return self.budget.under(mark)

        return await self.journal.moment("narrowed", [*mark, at], bool, under, False)

    def workload(self, plan: Plan) -> Workload:
        """What the workers of a plan may ask and read."""
        judged = self.model is not None and not self.unfit
        return workload(plan.complexity, self.settings, model=judged)

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
        """Open the session's folder, which has its id for a name, and its journal, choose the
        providers (with those brought along, or those of the session that is replayed; for pages
        alone perhaps none) and the model, and register the desk.

        Raises SettingsError where a setting cannot be used (an unknown provider, a missing folder,
        no permission to write), DiskHangs where the folder does not answer in the time of the run.
        """
        budget = budget or Budget.of(settings)
        opening = cls._opened(folder, settings, budget, stop, progress, providers)
        desk = await in_time(opening, folder / "session.sqlite", budget.left(), cls.close)
        try:
            if desk.asked:
                desk.asked.check()  # what this loads is no matter of the disk
        except BaseException:
            await desk.close()
            raise
        return desk

    @classmethod
    async def _opened(
        cls,
        folder: Path,
        settings: Settings,
        budget: Budget,
        stop: asyncio.Event | None,
        progress: Callable[[str], None] | None,
        providers: Sequence[Any] | Replay | PagesAlone,
    ) -> Self:
        session_id = checked_session_id(folder.name)
        replay = providers if isinstance(providers, Replay) else None
        stop = stop or asyncio.Event()
        library: list[Library] = []
        await asyncio.to_thread(private_folder, folder / "pages")
        # Each is closed again where a later step fails, or who opens is cancelled.
        async with AsyncExitStack() as opened:
            meaning = None if replay else meaning_of(settings)
            if meaning:
                opened.push_async_callback(meaning.close)
            journal = await Journal.open(
                folder / "session.sqlite",
                budget,
                recording=replay.recording if replay else None,
                most_bytes=settings.raw_mb * 1e6,
            )
            opened.push_async_callback(journal.close)
            if meaning:
                meaning.embeds.spend = lambda calls, tokens: journal.paid(
                    embedding_calls=calls, embedding_tokens=tokens
                )

            async def open_library() -> Library:
                one = await Library.open(
                    settings.library, home=settings.home, progress=progress, meaning=meaning
                )
                opened.callback(one.close)
                library.append(one)
                return one

            if isinstance(providers, Replay):
                choosing = _again(settings, journal)
            else:
                begun = await journal.noted("opened", "", before=True)
                late = not begun and budget.under(WRITE_NOW)
                choosing = _chosen(settings, budget, stop, open_library, providers, late=late)
            name, problems, choice = await choosing
            search = await _search(choice, settings, journal)
            opened.push_async_callback(search.close)
            budget.shares = shares_of(settings.effort, model=bool(name))
            model, asked = _models(settings, budget, journal, name, replay)
            if model:
                opened.push_async_callback(model.close)
            await journal.note("opened", "", Opened.of(settings, name, choice, problems).told())
            cleanings = await journal.count("clean")
            store = None if replay else knowledge_of(settings, meaning)
            web = await opened.enter_async_context(Web(settings))
            browser = Browser(settings)
            opened.pop_all()
        desk = cls(
            session_id=session_id,
            folder=folder,
            settings=settings,
            budget=budget,
            journal=journal,
            pages=PageStore(folder / "pages"),
            links=LinkStore(folder / "links"),
            search=search,
            reader=Reader(web, browser),
            web=web,
            browser=browser,
            libraries=library,
            model=model,
            asked=asked,
            knowing=Knowing(store, settings, meaning),
            stand_ins=StandIns(choice.spares),
            searching=tuple(provider.describes for provider in choice.providers),
            notices=tuple(choice.notices),
            problems=tuple(problems),
            stop=stop,
            cleanings=cleanings,
        )
        _desks[session_id] = desk
        return desk

    async def close(self) -> None:
        """Give back the connections and files, and forget the desk."""
        _desks.pop(self.session_id, None)
        if self.keeper and self.keeper is not asyncio.current_task():
            self.keeper.cancel()
        # Each is closed whatever becomes of the others, also when this is cancelled.
        async with AsyncExitStack() as closing:
            for library in self.libraries:
                closing.callback(library.close)
            closing.push_async_callback(self.journal.close)
            closing.push_async_callback(self.search.close)
            closing.push_async_callback(self.knowing.close)
            closing.push_async_exit(self.web)
            closing.push_async_exit(self.browser)
            if self.model:
                closing.push_async_callback(self.model.close)
            if self.examination:
                self.examination.cancel()
                await asyncio.wait({self.examination})


async def _chosen(
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    open_library: Callable[[], Awaitable[Library]],
    providers: Sequence[Any] | PagesAlone,
    *,
    late: bool,
) -> tuple[str, list[Problem], Choice]:
    """The model, what is wrong with it, and what is searched; as far as there is time for it: a run
    that begins `late`, when it is time to write, can ask and search nothing. Pages alone need no
    model, and perhaps no search.
    """
    name, problems, choice = "", list[Problem](), _NO_TIME
    alone = providers if isinstance(providers, PagesAlone) else None
    if alone and not alone.search:
        return name, problems, Choice(())
    if late and not alone:
        return name, problems, choice
    with suppress(TimeoutError, Stopped):
        if alone is None:
            name, problems = await unless_stopped(
                stop, _model(settings), seconds=budget.until_closing()
            )
        own = alone.providers if alone else cast("Sequence[Any]", providers)
        choosing = choose(settings, open_library, list(own))
        choice = await unless_stopped(stop, choosing, seconds=budget.until_closing())
    return name, problems, choice


async def _model(settings: Settings) -> tuple[str, list[Problem]]:
    """The chat model of the settings, or "" when the extractive roles do the work, which is a
    problem where a model was wanted.
    """
    try:
        name = await default_model(settings)
    except ModelError as error:
        effect = f"The extractive roles did all the work. {error.hint}".rstrip()
        subject = host_of(settings.openai_base_url)
        return "", [Problem(stage="model", subject=subject, reason=str(error), effect=effect)]
    return name, []


def _models(
    settings: Settings, budget: Budget, journal: Journal, name: str, replay: Replay | None
) -> tuple[Model | None, Model | None]:
    """The chat models, and those of them that are asked: of a replay only what was not recorded."""
    if not name:
        return None, None
    if replay is None:
        model = Model(settings, budget, journal, name)
        return model, model
    other = replay.anew
    anew = Model(other, budget, journal.asking(), other.model) if other else None
    return Model(settings, budget, journal, name, anew), anew


async def _again(settings: Settings, journal: Journal) -> tuple[str, list[Problem], Choice]:
    """What the session that is replayed has worked with."""
    opened = Opened.model_validate(await journal.noted("opened", "") or {})
    choice = await asyncio.to_thread(opened.choice, settings)  # certificates may be read
    return opened.model, list(opened.problems), choice


async def _search(choice: Choice, settings: Settings, journal: Journal) -> Search:
    """The providers; in a replay none is let wait, and what is said of waiting is what was."""
    if journal.recording is None:
        return choice.search(settings)
    search = Search(choice.providers)
    search.waits = Waits(tuple(await journal.noted("waits", "") or ()))
    return search


async def desk_of(session_id: str, settings: Settings | None) -> Desk:
    """The desk of a session: the open one, or opened now, once however many nodes ask for it."""
    if session_id not in _desks:
        async with _opening.setdefault(session_id, asyncio.Lock()):
            if session_id not in _desks:
                # The context of somebody's own graph, of which this one is a part, is none of our
                # settings.
                own = settings if isinstance(settings, Settings) else Settings.load()
                folder = own.home / "sessions" / checked_session_id(session_id)
                desk = await Desk.open(folder, own)
                desk.owned_by_graph = True
                desk.keeper = asyncio.create_task(_closed_in_the_end(desk))
        _opening.pop(session_id, None)
    return _desks[session_id]


async def _closed_in_the_end(desk: Desk) -> None:
    """Close a desk that only the graph knows when its time is over or its event loop ends, whatever
    became of its run.
    """
    try:
        await asyncio.sleep(desk.budget.left() + KEPT_SECONDS)
    finally:
        if _desks.get(desk.session_id) is desk:
            await desk.close()
