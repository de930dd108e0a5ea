"""A research session: start, watch its events, answer, stop, cancel, resume, follow up. Every front
door shares this object.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from spadework.budget import Budget
from spadework.clock import set_today
from spadework.errors import SessionError, SessionNotFound, SessionUnreadable, SettingsError
from spadework.events import (
    Answered,
    Asked,
    Event,
    Finished,
    Notice,
    Started,
    Troubled,
    parse_event,
)
from spadework.graph.closing import closed_by_code
from spadework.graph.desk import Desk, new_session_id
from spadework.graph.opened import Replay
from spadework.graph.research import Graph, build_graph
from spadework.graph.state import ResearchState
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.sessions.brief import Brief
from spadework.sessions.files import (
    exchanges_before,
    read_metadata,
    read_result,
    session_folder,
)
from spadework.sessions.lock import held
from spadework.sessions.records import Records
from spadework.sessions.store import checkpoints
from spadework.sessions.stream import parts_until_deadline
from spadework.settings import Settings
from spadework.values import Evidence, Result
from spadework.visible import visible

#: Seconds that a finished run may take to close its files and connections.
CLOSING_SECONDS = 10.0
#: Steps of the graph at most; rounds are bounded by the budget long before.
MOST_STEPS = 200


class Session:
    """One question and its run. Make it with `start` or `resume`, then iterate `events()` or await
    `result()`.
    """

    def __init__(self, session_id: str, brief: Brief, settings: Settings, budget: Budget) -> None:
        self.session_id = session_id
        self.brief = brief
        self.settings = settings
        self.budget = budget
        self.folder = settings.home / "sessions" / session_id
        self._providers: tuple[Any, ...] = ()
        self._replay: Replay | None = None
        self._stop = asyncio.Event()
        self._answers: asyncio.Queue[str] = asyncio.Queue()

    @property
    def question(self) -> str:
        """What was asked."""
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
        """A new session; one that `follows` another (its id) uses that one's pages first, and
        searches only for what they lack.

        `earlier` are the questions before this one where no session is followed, oldest first.
        Raises SettingsError for an empty question, SessionNotFound for an unknown `follows`.
        """
        question = " ".join(visible(question).split())
        if not question:
            raise SettingsError("The question is empty: say what you want to know.")
        settings = settings or Settings.load()
        before = (
            exchanges_before(settings.home, follows)
            if follows
            else [(text, "") for text in earlier]
        )
        brief = Brief(
            question,
            tuple(str(Path(path).absolute()) for path in attachments),
            follows,
            tuple(text for text, _ in before),
            tuple(answer for _, answer in before),
        )
        return cls(new_session_id(), brief, settings, budget or Budget.of(settings))

    @classmethod
    def resume(cls, session_id: str, *, settings: Settings | None = None, **changed: Any) -> Self:
        """A session taken up where it was left; `changed` settings replace those it was started
        with. Raises SessionNotFound.
        """
        home = Path(changed.get("home") or (settings or Settings.load()).home).absolute()
        metadata = read_metadata(session_folder(home, session_id))
        asked = {name: value for name, value in changed.items() if value is not None}
        kept = settings or Settings.load(**{**metadata.settings, "home": home, **asked})
        limits = {
            name: value
            for name, value in (vars(metadata.limits) if metadata.limits else {}).items()
            if name not in asked
        }
        brief = Brief(
            metadata.query,
            metadata.attachments,
            metadata.follows,
            *_earlier(home, metadata.follows),
        )
        return cls(session_id, brief, kept, Budget(**{**vars(Budget.of(kept).limits), **limits}))

    def attach(self, paths: Sequence[Path]) -> None:
        """Give files along that are read first. Before the run begins."""
        self.brief = replace(
            self.brief,
            attachments=(*self.brief.attachments, *(str(path.absolute()) for path in paths)),
        )

    def search_with(self, *sources: Any) -> Self:
        """Search with these, before the run begins: objects with `async def search(query, *, limit,
        seconds)` as `spadework.tools.search.provider.Provider` says, or tools and retrievers of
        LangChain.

        They take the place of `auto`; what else the setting `search` names is asked besides. A
        resumed session must be given them again.
        """
        self._providers += sources
        return self

    def replaying(self, replay: Replay) -> Self:
        """Answer what the run asks from a recording, before the run begins."""
        self._replay, self.budget.replayed = replay, 0.0
        return self

    def stop(self) -> None:
        """Stop searching and write the report with what there is."""
        self._stop.set()

    def answer(self, text: str) -> None:
        """Answer what an `Asked` event asked: words or one of its options; for a plan the topics
        wanted, one a line, or "" for yes.
        """
        self._answers.put_nowait(text)

    async def result(self) -> Result:
        """Run to the end and give the result."""
        async with aclosing(self.events()) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event.result
        raise SessionNotFound(f"Session {self.session_id} ended without a result.")

    async def events(
        self, progress: Callable[[str], None] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Run the session; its events as they happen, the last being Finished.

        `progress` is told what takes long before the run begins, such as building an index. Closing
        the iterator cancels the run, which can be resumed. Raises SettingsError, SessionBusy.
        """
        # The session runs in a task of its own, and this only hands its events on: a reader that
        # goes away half-way cancels that task.
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        running = asyncio.create_task(self._drive(queue, progress))
        over = False
        try:
            while (event := await queue.get()) is not None:
                over = isinstance(event, Finished)
                yield event
            await running
        finally:
            try:
                # Who leaves with the result in hand need not strike what is only closing its files
                # and connections.
                await asyncio.wait({running}, timeout=CLOSING_SECONDS if over else 0)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    async def _drive(
        self, queue: asyncio.Queue[Event | None], progress: Callable[[str], None] | None
    ) -> None:
        try:
            async with aclosing(self._events(progress)) as events:
                async for event in events:
                    queue.put_nowait(event)
        finally:
            queue.put_nowait(None)

    async def _events(self, progress: Callable[[str], None] | None) -> AsyncGenerator[Event, None]:
        if (done := await asyncio.to_thread(_result, self.folder)) is not None:
            yield self._started(done.mode, done.searched, resumed=True)
            yield Finished(result=done)
            return
        await asyncio.to_thread(_make, self.folder)
        with held(self.folder):
            records = await Records.begin(
                self.folder, self.brief, self.settings, self.budget.limits
            )
            set_today(records.created_at)
            try:
                desk = await Desk.open(
                    self.folder,
                    self.settings,
                    self.budget,
                    stop=self._stop,
                    progress=progress,
                    providers=self._replay or self._providers,
                )
            except SettingsError:
                await records.discard()
                raise
            try:
                async with aclosing(self._run(desk, records)) as events:
                    async for event in events:
                        await records.saw(event)
                        yield event
            finally:
                await desk.close()

    async def _run(self, desk: Desk, records: Records) -> AsyncGenerator[Event, None]:
        await desk.journal.note("brief", "", self.brief.told())
        graph = build_graph(checkpoints(desk.journal))
        config: RunnableConfig = {
            "configurable": {"thread_id": self.session_id},
            "recursion_limit": MOST_STEPS,
        }
        before = (await graph.aget_state(config)).values
        yield self._started(desk.mode, desk.searching, resumed=bool(before))
        for notice in (*(f"{p.reason} {p.effect}" for p in desk.problems), *desk.notices):
            yield Notice(text=notice)
        if finished := before.get("result"):
            # Killed between its last checkpoint and its last file.
            await records.finish(finished)
            yield Finished(result=finished)
            return
        given: Any = None if before else self.brief.state() | {"session_id": self.session_id}
        while True:
            asked: Asked | None = None
            async with aclosing(self._watched(graph, config, desk, records, given)) as events:
                async for event in events:
                    yield event
                    if isinstance(event, Finished):
                        return
                    asked = event if isinstance(event, Asked) else asked
            if asked is None:
                break
            answer = await desk.journal.moment(
                "answer", [asked.kind, asked.text], str, self._answered, ""
            )
            yield Answered(kind=asked.kind, text=answer)
            given = Command(resume=answer)
        # Cut off at the deadline, in whatever node it was: what the ledger holds is handed over.
        state = cast(ResearchState, (await graph.aget_state(config)).values)
        result = await closed_by_code(desk, state, self.question)
        await records.finish(result)
        yield Finished(result=result)

    def _started(self, mode: str, searching: tuple[str, ...], *, resumed: bool) -> Started:
        return Started(
            session_id=self.session_id,
            question=self.question,
            mode=mode,
            searching=searching,
            resumed=resumed,
            follows=self.brief.follows,
        )

    async def _answered(self) -> str:
        """What the user answers; "" when they want the report now, or say nothing for long."""
        seconds = self.settings.answer_minutes * 60
        with suppress(TimeoutError, Stopped):
            return await unless_stopped(self._stop, self._answers.get(), seconds=seconds)
        return ""

    async def _watched(
        self, graph: Graph, config: RunnableConfig, desk: Desk, records: Records, given: Any
    ) -> AsyncGenerator[Event, None]:
        """Run the graph with what it is given, or from its checkpoint, and write down what it adds,
        until it ends or asks something.
        """
        before = (await graph.aget_state(config)).values
        ledger: list[Evidence] = list(before.get("evidence", []))
        stream = graph.astream(
            given,
            config,
            context=self.settings,
            stream_mode=["updates", "custom"],
            subgraphs=True,
            version="v2",
            durability="sync",
        )
        async with aclosing(parts_until_deadline(stream, desk.budget)) as parts:
            async for part in parts:
                if part["type"] == "updates":
                    await _keep(part["data"], ledger, records)
                events = (
                    _of_update(part) if part["type"] == "updates" else [parse_event(part["data"])]
                )
                for event in events:
                    if isinstance(event, Finished):
                        await records.finish(event.result)
                    yield event


async def _keep(update: Any, ledger: list[Evidence], records: Records) -> None:
    """Write the ledger when a node has added to it."""
    added = [
        e
        for change in update.values()
        if isinstance(change, dict)
        for e in change.get("evidence", [])
    ]
    if added:
        ledger.extend(added)
        await records.ledger(ledger)


def _of_update(part: Any) -> list[Event]:
    """What the update of a node tells: what it asks the user, or the problems it met; those of a
    worker come with the worker's end.
    """
    if part["ns"]:
        return []
    if waiting := part["data"].get("__interrupt__"):
        return [parse_event(waiting[0].value)]
    return [
        Troubled(problem=p)
        for change in part["data"].values()
        if isinstance(change, dict)
        for p in change.get("problems", [])
    ]


def _earlier(home: Path, follows: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The questions before, and what was answered; none where that session is gone by now or
    broken: its pages and its plan, not its words, are what this one was built on.
    """
    try:
        before = exchanges_before(home, follows)
    except SessionError:
        before = []
    return tuple(text for text, _ in before), tuple(answer for _, answer in before)


def _result(folder: Path) -> Result | None:
    """The result that is written down. A file that is broken is written anew, from the last
    checkpoint.
    """
    try:
        return read_result(folder)
    except SessionUnreadable:
        return None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"The session folder {folder} cannot be made: {error.strerror}. Choose another with"
            " --home."
        ) from None
