"""A research session, shared by all interfaces: start, watch, answer, stop, resume, follow up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from spadework.backend import backend_of
from spadework.budget import Budget
from spadework.clock import set_today
from spadework.errors import SessionNotFound, SettingsError
from spadework.events import Event, Finished, Notice
from spadework.graph.chat import MOST_WISHES
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.graph.parts import Replay
from spadework.sessions import quotas
from spadework.sessions.brief import Brief
from spadework.sessions.entry import admitted, by_workers
from spadework.sessions.event_queue import LEAST_CLOSING, Tell, handed_on
from spadework.sessions.lookups.gathering_session import Gathering, needed_providers
from spadework.sessions.metrics.run_history import experience, took
from spadework.sessions.metrics.tally import TALLY
from spadework.sessions.record import telemetry
from spadework.sessions.record.records import Records, end_drawing
from spadework.sessions.research_run import Researching
from spadework.sessions.storage.files import (
    make_folder,
    read_metadata,
    session_folder,
    take_settings,
    whole_result,
)
from spadework.sessions.storage.lock import hold_session
from spadework.sessions.stream import in_its_time, start_event
from spadework.settings import Settings
from spadework.tools.stores.disk import DiskHangs, let_go, on_disk
from spadework.values import Result
from spadework.visible import visible


class Session:
    """One question and its run. Create it with `start` or `resume`, then iterate `events()` or
    await `result()`.
    """

    def __init__(self, session_id: str, brief: Brief, settings: Settings, budget: Budget) -> None:
        self.session_id = session_id
        self.brief = brief
        self.settings = settings
        self.budget = budget
        self.folder = settings.home / "sessions" / session_id
        self._providers: tuple[Any, ...] = ()
        self._replay: Replay | None = None
        #: The work of a gathering session, once begun.
        self.gathering: Gathering | None = None
        self._stop = asyncio.Event()
        self._answers: asyncio.Queue[str] = asyncio.Queue()
        #: Stored settings that were ignored, in words.
        self._set_aside = ""
        #: Seconds that writing took, once there is a result.
        self._writing: float | None = None
        #: Events already known to a watcher of others' run; None: those reported here.
        self.seen: int | None = None

    @property
    def question(self) -> str:
        """The question."""
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
        """Return a new session; one that `follows` another (its id) uses its pages first, and only
        searches for what they lack.

        `earlier` are previous questions if no session is followed, oldest first. Raises
        SettingsError for an empty question, SessionNotFound for an unknown `follows`.
        """
        question = " ".join(visible(question).split())
        if not question:
            raise SettingsError("The question is empty: say what you want to know.")
        settings = settings or Settings.load()
        files = tuple(str(Path(path).absolute()) for path in attachments)
        brief = Brief.after(settings.home, question, files, follows, earlier)
        return cls(new_session_id(), brief, settings, budget or Budget.of(settings))

    @classmethod
    def resume(cls, session_id: str, *, settings: Settings | None = None, **changed: Any) -> Self:
        """Return a stored session to continue; `changed` settings replace its own. Raises
        SessionNotFound.
        """
        home = Path(changed.get("home") or (settings or Settings.load()).home).absolute()
        metadata = read_metadata(session_folder(home, session_id))
        asked = {name: value for name, value in changed.items() if value is not None}
        taken, set_aside = take_settings(metadata)
        kept = settings or Settings.load(**{**taken, "home": home, **asked})
        begun = vars(metadata.limits) if metadata.limits else {}
        limits = {name: value for name, value in begun.items() if name not in asked}
        budget = Budget(**{**vars(Budget.of(kept).limits), **limits})
        made = cls(session_id, Brief.reopen(home, metadata), kept, budget)
        made._set_aside = "" if settings else set_aside
        return made

    def attach(self, paths: Sequence[Path]) -> None:
        """Attach files that are read first. Call before the run begins."""
        files = (*self.brief.attachments, *(str(path.absolute()) for path in paths))
        self.brief = replace(self.brief, attachments=files)

    def wishing(self, wishes: str, most_words: int = 0) -> Self:
        """Set instructions about the report's form before the run begins: length, format, language
        and readers in words, and maximum words (0: as in the settings).

        Nothing else in the words is followed: they do not affect the search.
        """
        self.brief = replace(
            self.brief, wishes=visible(wishes)[:MOST_WISHES], most_words=max(0, most_words)
        )
        return self

    def search_with(self, *sources: Any) -> Self:
        """Set search providers before the run begins: objects with `async def search(query, *,
        limit, seconds)` as in `spadework.tools.search.provider.Provider`, or LangChain tools and
        retrievers.

        They replace `auto`; providers named in the setting `search` are also used. A resumed
        session must be given them again.
        """
        self._providers += sources
        return self

    def replaying(self, replay: Replay) -> Self:
        """Answer the run's requests from a recording. Call before the run begins."""
        self._replay, self.budget.replayed = replay, 0.0
        return self

    def stop(self) -> None:
        """Stop searching and write the report with the evidence so far."""
        self._stop.set()

    def answer(self, text: str) -> None:
        """Answer an `Asked` event: words, an option, or the topics wanted, one per line ("":
        yes).
        """
        self._answers.put_nowait(text)

    async def result(self, watch: Callable[[Event], None] | None = None) -> Result:
        """Run to the end and return the result; `watch` receives each event."""
        async with aclosing(self.events()) as events:
            async for event in events:
                if watch:
                    watch(event)
                if isinstance(event, Finished):
                    return event.result
        raise SessionNotFound(f"Session {self.session_id} ended without a result.")

    def events(self, progress: Callable[[str], None] | None = None) -> AsyncGenerator[Event, None]:
        """Run the session, yielding its events, ending with Finished.

        `progress` receives messages about slow steps before the run: its position in the queue,
        building an index. Closing the iterator cancels the run, which can be resumed. Raises
        SettingsError, SessionBusy, DiskFailed, SessionUnreadable.
        """
        return handed_on(partial(self._run, progress), self.folder, self.budget)

    async def _run(self, progress: Callable[[str], None] | None, tell: Tell) -> None:
        """Run the session in this task, telling each event once, as it happens."""
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
            # Meanwhile another process may have run it, to its end or not.
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
        """Record the question while it waits, so that it can be resumed."""
        await quotas.check(self.settings, replayed=bool(self._replay))
        if self.settings.otel:
            await asyncio.to_thread(telemetry.providers)  # before anything is charged
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
        """Whether workers run it; one that needs objects of this process runs here."""
        own = bool(self._replay or self._providers)
        return not own and by_workers(self.session_id, self.brief, self.settings)

    @asynccontextmanager
    async def _opened(
        self, records: Records, progress: Callable[[str], None] | None
    ) -> AsyncIterator[SessionContext]:
        """Open what the run works with; close it within the time that is left."""
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
        """Count the run's alerts, and export it to OpenTelemetry if requested."""
        course = records.course
        if course.result is None:
            return
        if self.brief.kind == "research":
            TALLY.look_at(records.metadata, course.result, course)
        if self.settings.otel:
            await asyncio.to_thread(telemetry.tell, course, course.result, telemetry.providers())

    def _work(self, context: SessionContext, records: Records) -> AsyncGenerator[Event, None]:
        if self.brief.kind == "research":
            return Researching(self.brief, context, records, self._answered).events()
        self.gathering = Gathering(self.brief, context, records)
        return self.gathering.events()

    async def _answered(self) -> str:
        """Return the user's answer; "" if they want the report now, or do not answer in time."""
        seconds = self.settings.answer_minutes * 60
        with quotas.stepped_out(self.settings), suppress(TimeoutError, Stopped):
            return await unless_stopped(self._stop, self._answers.get(), seconds=seconds)
        return ""
