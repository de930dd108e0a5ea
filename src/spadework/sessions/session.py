"""Start sessions, watch them, answer their questions, and stop, resume or follow up on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from spadework.agents.llm.providers import check_keys
from spadework.backend import backend_of
from spadework.budget import Budget
from spadework.deadline import set_today
from spadework.errors import SessionNotFound, SettingsError
from spadework.events import Answered, Asked, Event, Finished, Notice
from spadework.graph.chat import MOST_WISHES
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.early_end import closed_by_code
from spadework.graph.effort.model_policy import recall
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.graph.parts import Replay
from spadework.graph.research import Graph, build_graph
from spadework.graph.state import ResearchState
from spadework.sessions import quotas
from spadework.sessions.brief import Brief
from spadework.sessions.gathering_session import Gathering, needed_providers
from spadework.sessions.metrics.prometheus import TALLY
from spadework.sessions.metrics.run_history import experience, reserve, took
from spadework.sessions.record import telemetry
from spadework.sessions.record.records import Records, end_drawing
from spadework.sessions.storage.checkpoints import AfterTelling, checkpoints_of, last_state
from spadework.sessions.storage.files import (
    JOURNAL,
    hold_session,
    make_folder,
    read_metadata,
    session_folder,
    take_settings,
    whole_result,
)
from spadework.sessions.stream import (
    ANSWER_SECONDS,
    LEAST_CLOSING,
    Tell,
    handed_on,
    in_its_time,
    start_event,
    tell_beginning,
    watch_graph,
)
from spadework.settings import Settings
from spadework.tools.stores.disk import DiskHangs, let_go, on_disk
from spadework.tools.stores.journal_rows import claim_on
from spadework.values import Result
from spadework.visible import visible

#: True inside a session. A session started within another one must not wait for a slot.
_inside: ContextVar[bool] = ContextVar("inside", default=False)


@asynccontextmanager
async def admitted(
    session_id: str,
    brief: Brief,
    settings: Settings,
    budget: Budget,
    stop: asyncio.Event,
    progress: Callable[[str], None] | None,
) -> AsyncIterator[None]:
    """Pause the run's clock until a slot is free, then apply limits shared with other machines."""
    replayed = budget.replayed is not None
    backend = backend_of(settings)
    sharing = nullcontext() if replayed else backend.limits_shared(settings, session_id)
    if _inside.get() or brief.kind == "read":  # reading one page need not wait for research runs
        async with sharing:
            yield
        return
    budget.reserve = await on_disk(reserve, settings.home)
    budget.pause()
    async with quotas.place(settings, stop, progress), sharing:
        budget.go_on()
        _inside.set(True)
        yield


def by_workers(session_id: str, brief: Brief, settings: Settings) -> bool:
    """Return whether workers, rather than this process, run the session."""
    wanted = settings.database_url is not None and brief.kind == "research"
    return wanted and not _inside.get() and claim_on(session_id) is None


#: Maximum steps of the graph. A run exhausts its budget long before it reaches this limit.
MOST_STEPS = 200
#: Maximum seconds to wait for the user's answer. The run's clock is paused meanwhile.
USER_SECONDS = 3600.0


class Researching:
    """Researches a session's question. `answered` waits for the user's answer and returns it."""

    def __init__(
        self,
        brief: Brief,
        context: SessionContext,
        records: Records,
        answered: Callable[[], Awaitable[str]],
    ) -> None:
        self._brief, self._context, self._records = brief, context, records
        self._answered = answered

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield the research events, ending with Finished."""
        context, records = self._context, self._records
        record = context.record
        saved = checkpoints_of(context.session_id, context.journal, record)
        graph = build_graph(saved)
        config: RunnableConfig = {
            "configurable": {"thread_id": context.session_id},
            "recursion_limit": MOST_STEPS,
        }
        before = await in_its_time(self._taken_up(graph, config), context.folder, context.budget)
        tell_beginning(context, self._brief, before, records)
        for event in record.heard():
            yield event
        if finished := before.get("result"):
            # The run was killed after its result was saved, so its files may be incomplete.
            for event in await self._finished(finished):
                yield event
            return
        given: Any = None if before else self._brief.state() | {"session_id": context.session_id}
        while True:
            asked: Asked | None = None
            async with aclosing(watch_graph(graph, config, context, records, given)) as events:
                async for event in events:
                    yield event
                    if isinstance(event, Finished):
                        return
                    asked = event if isinstance(event, Asked) else asked
            if asked is None:
                break
            answer = await context.journal.moment(
                "answer", [asked.kind, asked.text], str, self._answered, ""
            )
            record.tell(Answered(kind=asked.kind, text=answer))
            given = Command(resume=answer)
        for event in await self._finished(await self._cut_off(graph, config, before, saved)):
            yield event

    async def _cut_off(
        self, graph: Graph, config: RunnableConfig, before: ResearchState, saved: AfterTelling
    ) -> Result:
        journal = self._context.journal
        state: ResearchState
        if await journal.answers(ANSWER_SECONDS):
            state = await last_state(graph, config)
        else:
            state = {**before, **saved.remembered()}
        result = await closed_by_code(self._context, state, self._brief.question)
        if journal.hangs:
            self._records.late.hangs(JOURNAL)
        return result

    async def _finished(self, result: Result) -> list[Event]:
        await self._records.finish(result)
        self._context.record.tell(Finished(result=result))
        return list(self._context.record.heard())

    async def _taken_up(self, graph: Graph, config: RunnableConfig) -> ResearchState:
        before = await last_state(graph, config)
        if before:
            await recall(self._context)
        return before


class Session:
    """A question and its run, created by `start` or `resume` and run by `events` or `result`."""

    def __init__(self, session_id: str, brief: Brief, settings: Settings, budget: Budget) -> None:
        self.session_id = session_id
        self.brief = brief
        self.settings = settings
        self.budget = budget
        self.folder = settings.home / "sessions" / session_id
        self._providers: tuple[Any, ...] = ()
        self._replay: Replay | None = None
        self.gathering: Gathering | None = None
        self._stop = asyncio.Event()
        self._answers: asyncio.Queue[str] = asyncio.Queue()
        #: A notice about stored settings that are ignored.
        self._set_aside = ""
        #: How many of the seconds reserved for finishing the report were used, or None before
        #: there is a result.
        self._writing: float | None = None
        #: If workers run the session, how many of its recorded events to skip. None skips all
        #: events up to the last `Ended`.
        self.seen: int | None = None

    @property
    def question(self) -> str:
        """The research question, the query for gathering pages, or the URL of the page to read."""
        return self.brief.question

    @classmethod
    def start(
        cls,
        question: str,
        *,
        settings: Settings | None = None,
        budget: Budget | None = None,
        attachments: Sequence[str | Path] = (),
        follows: str = "",
        earlier: Sequence[str] = (),
    ) -> Self:
        """Return a new session. If `follows` is an earlier session's id, the new session searches
        only for facts missing from that session's pages. `earlier` holds the previous questions,
        oldest first, and is ignored if `follows` is set. Raises SettingsError or SessionNotFound.
        """
        question = " ".join(visible(question).split())
        if not question:
            raise SettingsError("The question is empty. Say what you want to know.")
        settings = settings or Settings.load()
        check_keys(settings)
        files = tuple(str(Path(path).absolute()) for path in attachments)
        brief = Brief.after(settings.home, question, files, follows, earlier)
        return cls(new_session_id(), brief, settings, budget or Budget.of(settings))

    @classmethod
    def resume(
        cls,
        session_id: str,
        *,
        settings: Settings | None = None,
        common: Path | None = None,
        **changed: Any,
    ) -> Self:
        """Return a stored session with `changed` settings. `common` is the server's home, if any.
        Raises SessionNotFound or SessionUnreadable.
        """
        home = Path(changed.get("home") or (settings or Settings.load()).home).absolute()
        metadata = read_metadata(session_folder(home, session_id))
        asked = {name: value for name, value in changed.items() if value is not None}
        taken, set_aside = take_settings(metadata)
        kept = settings or Settings.load(**{**taken, "home": home, **asked})
        kept = kept.within(common) if common else kept
        begun = vars(metadata.limits) if metadata.limits else {}
        limits = {name: value for name, value in begun.items() if name not in asked}
        budget = Budget(**{**vars(Budget.of(kept).limits), **limits})
        made = cls(session_id, Brief.reopen(home, metadata), kept, budget)
        made._set_aside = "" if settings else set_aside
        return made

    def attach(self, paths: Sequence[Path]) -> None:
        """Attach files to read before searching. Call this before the run."""
        files = (*self.brief.attachments, *(str(path.absolute()) for path in paths))
        self.brief = replace(self.brief, attachments=files)

    def wishing(self, wishes: str, most_words: int = 0) -> Self:
        """Set the form of the report. `wishes` describes its length, format, language and
        audience. `most_words` is its maximum number of words (0: as in the settings). Call this
        before the run.
        """
        self.brief = replace(
            self.brief, wishes=visible(wishes)[:MOST_WISHES], most_words=max(0, most_words)
        )
        return self

    def search_with(self, *sources: Any) -> Self:
        """Search with these providers. A provider is a LangChain tool or retriever, or an object
        with `async def search(query, *, limit, seconds)` as in
        `spadework.tools.search.provider.Provider`. They replace the providers that `auto` would
        choose, but not those named in the setting `search`. Call this before a run, and again
        before resuming it.
        """
        self._providers += sources
        return self

    def replaying(self, replay: Replay) -> Self:
        """Answer the session's requests from a recording. Call this before the run."""
        self._replay, self.budget.replayed = replay, 0.0
        return self

    def stop(self) -> None:
        """Stop searching, and write the report from the evidence so far."""
        self._stop.set()

    def answer(self, text: str) -> None:
        """Answer an `Asked` event with text, an option, or one topic per line. "" means yes."""
        self._answers.put_nowait(text)

    async def result(self, watch: Callable[[Event], None] | None = None) -> Result:
        """Run the session and return the result. `watch` receives each event."""
        async with aclosing(self.events()) as events:
            async for event in events:
                if watch:
                    watch(event)
                if isinstance(event, Finished):
                    return event.result
        raise SessionNotFound(f"Session {self.session_id} ended without a result.")

    def events(self, progress: Callable[[str], None] | None = None) -> AsyncGenerator[Event, None]:
        """Run the session and yield its events, ending with Finished. Closing the iterator cancels
        the run, unless workers run it. A cancelled run can be resumed. `progress` receives
        messages about waiting and slow steps. Raises SettingsError, or a SessionError such as
        SessionBusy, DaySpent, DiskFailed or SessionUnreadable.
        """
        return handed_on(partial(self._run, progress), self.folder, self.budget)

    async def _run(self, progress: Callable[[str], None] | None, tell: Tell) -> None:
        if await self._tell_ended(tell):
            return
        if self.elsewhere:
            backend = backend_of(self.settings)
            watched = backend.run_by_workers(self, self._stop, self._answers, progress)
            async with aclosing(watched) as events:
                async for event in events:
                    tell(event)
            return
        records = await self._begin()
        me = self.session_id, self.brief, self.settings, self.budget
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(admitted(*me, self._stop, progress))
            stack.enter_context(hold_session(self.folder))
            # Another process might have run the session while this one waited.
            if await self._tell_ended(tell):
                return
            await records.take_up()
            if self._set_aside:
                records.record.tell(Notice(text=self._set_aside))
            set_today(records.metadata.began)
            count = stack.enter_context(TALLY.counted())
            context = await stack.enter_async_context(self._opened(records, progress))
            await stack.enter_async_context(
                quotas.day_limit(self.budget, self.settings, replayed=bool(self._replay))
            )
            note = context.journal.note("brief", "", self.brief.as_json())
            await in_its_time(note, self.folder, self.budget)
            work = await stack.enter_async_context(aclosing(self._work(context, records)))
            async for event in work:
                await records.saw(event)
                late = [Notice(text=sentence) for sentence in records.late.sentences()]
                if isinstance(event, Finished):
                    self._writing = self.budget.closing_seconds()
                for each in (*late, event):
                    count(each)
                    tell(each)

    async def _begin(self) -> Records:
        """Open the records and store the question at once, so that the session can be resumed."""
        await quotas.check(self.settings, replayed=bool(self._replay))
        await asyncio.to_thread(make_folder, self.folder)
        with hold_session(self.folder):
            limits = self.budget.limits
            return await Records.begin(self.folder, self.brief, self.settings, limits)

    async def _tell_ended(self, tell: Tell) -> bool:
        if (done := await asyncio.to_thread(whole_result, self.folder)) is None:
            return False
        await asyncio.to_thread(end_drawing, self.folder, self.settings, done)
        tell(start_event(self.session_id, self.brief, done.mode, done.searched, resumed=True))
        tell(Finished(result=done))
        return True

    @property
    def elsewhere(self) -> bool:
        """True if workers run the session, unless it is a replay or has added providers."""
        own = bool(self._replay or self._providers)
        return not own and by_workers(self.session_id, self.brief, self.settings)

    @asynccontextmanager
    async def _opened(
        self, records: Records, progress: Callable[[str], None] | None
    ) -> AsyncIterator[SessionContext]:
        try:
            context = await SessionContext.open(
                self.folder,
                self.settings,
                self.budget,
                stop=self._stop,
                progress=progress,
                providers=self._replay or needed_providers(self.brief, self._providers),
            )
        except SettingsError:
            await records.discard()
            raise
        records.late.left = self.budget.seconds_left
        try:
            context.experience = await experience(self.settings.home)
            context.tell_into(records.record)
            yield context
        except DiskHangs:
            context.journal.hangs = True
            raise
        finally:
            await self._close(context, records)

    async def _close(self, context: SessionContext, records: Records) -> None:
        began, hangs = time.monotonic(), context.journal.hangs
        if hangs:
            await let_go(context.close(), LEAST_CLOSING)
        else:
            await context.close()
            with suppress(OSError):
                await records.record.written()
        if self._writing is None or self._replay is not None:
            return
        if not hangs:
            closing = time.monotonic() - began
            await on_disk(took, self.settings.home, writing=self._writing, closing=closing)
        await self._told_of(records)

    async def _told_of(self, records: Records) -> None:
        course = records.course
        if course.result is None:
            return
        if self.brief.kind == "research":
            TALLY.look_at(records.metadata, course.result, course)
        await asyncio.to_thread(telemetry.tell, course, course.result)

    def _work(self, context: SessionContext, records: Records) -> AsyncGenerator[Event, None]:
        if self.brief.kind == "research":
            return Researching(self.brief, context, records, self._answered).events()
        self.gathering = Gathering(self.brief, context, records)
        return self.gathering.events()

    async def _answered(self) -> str:
        """Return the user's answer, or "" if the session was stopped or no answer came in time."""
        with quotas.stepped_out(self.settings), suppress(TimeoutError, Stopped):
            return await unless_stopped(self._stop, self._answers.get(), seconds=USER_SECONDS)
        return ""
