"""The stream of a running graph as events: recorded, and cut off at the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
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
from spadework.sessions.storage.session_file import JOURNAL
from spadework.tools.stores.disk import in_time
from spadework.values import Result

#: Seconds past the deadline after which the run is cut off and closed by code.
GRACE_SECONDS = 0.3
#: Seconds to wait then for a save in progress, for the run's end, and for the journal, which
#: responds at once if its disk does.
SAVING_SECONDS, CANCEL_SECONDS, ANSWER_SECONDS = 1.0, 5.0, 0.4
T = TypeVar("T")
#: Marks the time to write among the parts.
EMERGENCY = object()
#: Follows the last part.
_END = object()


async def parts_until_deadline(
    stream: AsyncIterator[Any], context: SessionContext, unwritten: Mark = (0.0, 0.0)
) -> AsyncGenerator[Any, None]:
    """Yield the parts of `stream` and the events recorded in the context, and EMERGENCY when it is
    time to write. End with the stream, shortly after the deadline, or at the mark `unwritten` if no
    report is begun. The run never outlives this generator.

    The graph runs in its own task, isolated from its consumer and the clock.
    """
    budget, journal, queue = context.budget, context.journal, context.record.told
    told = budget.replayed is not None or budget.under(WRITE_NOW)

    task = asyncio.create_task(_queue_parts(stream, queue))
    try:
        while True:
            try:
                # Not asyncio.wait_for, which on Python 3.11 can lose a cancellation that coincides
                # with a part.
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
        # Work waiting for an unresponsive journal is abandoned.
        if not task.done() and await journal.answers(ANSWER_SECONDS):
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)


def _next_mark(budget: Budget, unwritten: Mark, *, told: bool) -> float | None:
    """Return the seconds until the next mark; None in a replay."""
    if budget.replayed is not None:
        return None
    if not told:
        return budget.until(WRITE_NOW)
    return budget.seconds_left() + GRACE_SECONDS if budget.writing else budget.until(unwritten)


async def _queue_parts(stream: AsyncIterator[Any], queue: asyncio.Queue[Any]) -> None:
    """Put the parts of `stream` into the queue, and finally its end, also on errors."""
    try:
        async for part in stream:
            queue.put_nowait(part)
    except asyncio.CancelledError as cancelled:
        # LangGraph passes on the task that is still saving, to be awaited before the file is
        # closed.
        saving = [left for left in cancelled.args if isinstance(left, asyncio.Task)]
        if saving:
            await asyncio.wait(saving, timeout=SAVING_SECONDS)
        raise
    finally:
        queue.put_nowait(_END)


async def watch_graph(
    graph: Graph, config: RunnableConfig, context: SessionContext, records: Records, given: Any
) -> AsyncGenerator[Event, None]:
    """Run the graph with its input, or from its checkpoint, and yield events until it ends or asks
    something. A result's files are written before it is reported.
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
    """Return the event of a run's start or resumption."""
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
    """Report that the run begins, or continues from the state `before`."""
    record = context.record
    resumed = bool(before)
    record.tell(
        start_event(context.session_id, brief, context.mode, context.searching, resumed=resumed)
    )
    for notice in (*(f"{p.reason} {p.effect}" for p in context.problems), *context.notices):
        record.tell(Notice(text=notice))
    # A killed run has reported less than its state contains.
    proven = records.proven
    untold = [entry for entry in before.get("evidence", []) if entry.id not in proven]
    for event in _of_change({"evidence": untold, "problems": before.get("problems", [])}):
        record.tell(event)


async def in_its_time(work: Coroutine[Any, Any, T], folder: Path, budget: Budget) -> T:
    """Run journal work in a session's folder until the deadline, or slightly longer in a run
    resumed after it. Raises DiskHangs.
    """
    return await in_time(work, folder / JOURNAL, budget.seconds_left())


def _emergency(budget: Budget) -> Notice:
    share, left = 100 * WRITE_NOW[0], budget.seconds_left()
    return Notice(
        text=(
            f"Less than {share:.0f} % of the time is left ({left:.0f} s): nothing more is searched"
            " or read, the report is written now."
        )
    )


def _of_update(part: Any) -> list[Event]:
    """Return the events of a node's update: a question, evidence, problems, the result; none for
    workers.
    """
    if part["ns"]:
        return []
    if waiting := part["data"].get("__interrupt__"):
        return [parse_event(waiting[0].value)]
    return [event for change in part["data"].values() for event in _of_change(change)]


def _of_change(change: Any) -> list[Event]:
    """Return the events of a state change."""
    if not isinstance(change, dict):
        return []
    added, result = change.get("evidence", []), change.get("result")
    return [
        *([Proven(evidence=tuple(added))] if added else []),
        *(Troubled(problem=problem) for problem in change.get("problems", [])),
        *([Finished(result=result)] if isinstance(result, Result) else []),
    ]
