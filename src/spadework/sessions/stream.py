"""Stream the recorded events of a running graph until the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig

from spadework.budget import Budget
from spadework.deadline import CLOSE_NOW, WRITE_NOW, Mark
from spadework.events import Event, Finished, Notice, Proven, Started, Timed, Troubled, parse_event
from spadework.graph.context import SessionContext
from spadework.graph.research import Graph
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import Records
from spadework.sessions.storage.disk import disk_faults
from spadework.sessions.storage.files import JOURNAL
from spadework.tools.stores.disk import in_time
from spadework.values import Result

#: Seconds after the deadline until a run is cut off.
GRACE_SECONDS = 0.3
SAVING_SECONDS, CANCEL_SECONDS, ANSWER_SECONDS = 1.0, 5.0, 0.4
T = TypeVar("T")
#: A stream item meaning that the report must be written now.
EMERGENCY = object()
#: A stream item that marks the end of the stream.
_END = object()


async def parts_until_deadline(
    stream: AsyncIterator[Any], context: SessionContext, unwritten: Mark = (0.0, 0.0)
) -> AsyncGenerator[Any, None]:
    """Yield the parts of the graph's stream and the recorded events, until shortly after the
    deadline. Yield EMERGENCY when the report must be written at once. Stop early if writing has
    not begun when the time left falls below `unwritten`.
    """
    budget, journal, queue = context.budget, context.journal, context.record.told
    told = budget.replayed is not None or budget.under(WRITE_NOW)

    task = asyncio.create_task(_queue_parts(stream, queue))
    try:
        while True:
            try:
                # In Python 3.11, asyncio.wait_for can lose a cancellation that arrives at the same
                # time as an item from the queue.
                async with asyncio.timeout(_next_mark(budget, unwritten, told=told)):
                    part = await queue.get()
            except TimeoutError:
                if told and budget.writing and budget.seconds_left():
                    continue
                if told:
                    return
                told = True
                part = EMERGENCY
            if part is _END:
                break
            yield part
        await task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=ANSWER_SECONDS)
        # If the journal hangs, do not wait for the task, which may itself be waiting for the
        # journal.
        if not task.done() and await journal.answers(ANSWER_SECONDS):
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)


def _next_mark(budget: Budget, unwritten: Mark, *, told: bool) -> float | None:
    if budget.replayed is not None:
        return None
    if not told:
        return budget.until(WRITE_NOW)
    return budget.seconds_left() + GRACE_SECONDS if budget.writing else budget.until(unwritten)


async def _queue_parts(stream: AsyncIterator[Any], queue: asyncio.Queue[Any]) -> None:
    try:
        async for part in stream:
            queue.put_nowait(part)
    except asyncio.CancelledError as cancelled:
        # The CancelledError from LangGraph may carry a task that is still writing to the journal.
        saving = [left for left in cancelled.args if isinstance(left, asyncio.Task)]
        if saving:
            await asyncio.wait(saving, timeout=SAVING_SECONDS)
        raise
    finally:
        queue.put_nowait(_END)


async def watch_graph(
    graph: Graph, config: RunnableConfig, context: SessionContext, records: Records, given: Any
) -> AsyncGenerator[Event, None]:
    """Yield a graph's events until it ends or asks a question. The result's files are written
    before Finished is yielded.
    """
    stream = graph.astream(
        given,
        config,
        context=context.settings,
        stream_mode=["updates"],
        subgraphs=True,
        version="v2",
        durability="sync",
    )
    record = context.record
    async with aclosing(parts_until_deadline(stream, context, CLOSE_NOW)) as parts:
        async for part in parts:
            if isinstance(part, Timed):
                yield cast("Event", part)
                continue
            told = [_emergency(context.budget)] if part is EMERGENCY else _of_update(part)
            for event in told:
                if isinstance(event, Finished):
                    await records.finish(event.result)
                record.tell(event)
    for event in record.heard():
        yield event


def start_event(
    session_id: str, brief: Brief, mode: str, searching: tuple[str, ...], *, resumed: bool
) -> Started:
    """Return the event for a run's start or resumption."""
    return Started(
        session_id=session_id,
        question=brief.question,
        mode=mode,
        searching=searching,
        resumed=resumed,
        follows=brief.follows,
    )


def tell_beginning(
    context: SessionContext, brief: Brief, before: Mapping[str, Any], records: Records
) -> None:
    """Record that a run starts, or resumes from the state `before`."""
    record = context.record
    resumed = bool(before)
    record.tell(
        start_event(context.session_id, brief, context.mode, context.searching, resumed=resumed)
    )
    for notice in (*(f"{p.reason} {p.effect}" for p in context.problems), *context.notices):
        record.tell(Notice(text=notice))
    # A run that was killed may have saved state that it did not log.
    proven = records.proven
    untold = [entry for entry in before.get("evidence", []) if entry.id not in proven]
    for event in _of_change({"evidence": untold, "problems": before.get("problems", [])}):
        record.tell(event)


async def in_its_time(work: Coroutine[Any, Any, T], folder: Path, budget: Budget) -> T:
    """Await `work`, which uses the journal. Raises DiskHangs at the deadline."""
    return await in_time(work, folder / JOURNAL, budget.seconds_left())


def _emergency(budget: Budget) -> Notice:
    share, left = 100 * WRITE_NOW[0], budget.seconds_left()
    return Notice(
        text=(
            f"Less than {share:.0f} % of the time is left ({left:.0f} s). Searching and reading"
            " have stopped, and the report is being written."
        )
    )


def _of_update(part: Any) -> list[Event]:
    """Return the events in a node's update. Updates from workers' subgraphs are ignored."""
    if part["ns"]:
        return []
    if waiting := part["data"].get("__interrupt__"):
        return [parse_event(waiting[0].value)]
    return [event for change in part["data"].values() for event in _of_change(change)]


def _of_change(change: Any) -> list[Event]:
    if not isinstance(change, dict):
        return []
    added, result = change.get("evidence", []), change.get("result")
    return [
        *([Proven(evidence=tuple(added))] if added else []),
        *(Troubled(problem=problem) for problem in change.get("problems", [])),
        *([Finished(result=result)] if isinstance(result, Result) else []),
    ]


#: Maximum seconds to wait for a run to close, and minimum seconds to wait if the run is finished.
CLOSING_SECONDS, LEAST_CLOSING = 10.0, 1.0

Tell = Callable[[Event], None]


async def handed_on(
    run: Callable[[Tell], Awaitable[None]], folder: Path, budget: Budget
) -> AsyncGenerator[Event, None]:
    """Yield the events of `run`, and raise its errors. Disk errors are converted to DiskFailed or
    SessionUnreadable. Closing the iterator cancels the run.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    running = asyncio.create_task(_drive(run, folder, queue))
    over = False
    try:
        while (event := await queue.get()) is not None:
            over = isinstance(event, Finished)
            yield event
        await running
    finally:
        try:
            # A finished run may use the time until its deadline for closing.
            rest = max(LEAST_CLOSING, min(CLOSING_SECONDS, budget.seconds_left()))
            await asyncio.wait({running}, timeout=rest if over else 0)
        finally:
            running.cancel()
            # Any work still running after this wait is stopped when the process exits.
            ending = asyncio.gather(running, return_exceptions=True)
            await asyncio.wait({ending}, timeout=LEAST_CLOSING if over else CLOSING_SECONDS)


async def _drive(
    run: Callable[[Tell], Awaitable[None]], folder: Path, queue: asyncio.Queue[Event | None]
) -> None:
    try:
        with disk_faults(folder):
            await run(queue.put_nowait)
    finally:
        queue.put_nowait(None)
