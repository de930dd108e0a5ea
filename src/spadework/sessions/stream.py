"""The stream of a running graph: cut off at the deadline, what it adds written down, as events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from langchain_core.runnables import RunnableConfig

from spadework.budget import Budget
from spadework.deadline import WRITE_NOW
from spadework.events import Event, Finished, Notice, Troubled, parse_event
from spadework.graph.desk import Desk
from spadework.graph.research import Graph
from spadework.sessions.records import Records
from spadework.tools.journal import Journal
from spadework.values import Evidence

#: Seconds past the deadline after which the run is cut off and closed by code.
GRACE_SECONDS = 0.3
#: How long what is just being saved is waited for then, and the run's end; and the journal, which
#: answers at once on a disk that does.
SAVING_SECONDS, CANCEL_SECONDS, ANSWER_SECONDS = 1.0, 5.0, 0.4
#: Stands among the parts where the time to write has come.
EMERGENCY = object()


async def parts_until_deadline(
    stream: AsyncIterator[Any], budget: Budget, journal: Journal
) -> AsyncGenerator[Any, None]:
    """The parts of `stream` as they come, EMERGENCY when it is time to write; it ends with the
    stream, or a little after the deadline. The run never outlives this generator.

    The graph runs in a task of its own, so that neither its consumer nor the clock can strike it in
    the middle of the other's work.
    """
    queue: asyncio.Queue[Any] = asyncio.Queue()
    end = object()
    told = budget.replayed is not None or budget.under(WRITE_NOW)

    async def run() -> None:
        try:
            async for part in stream:
                queue.put_nowait(part)
        except asyncio.CancelledError as cancelled:
            # LangGraph hands over the task in which it is still saving, to be waited for before the
            # file is closed.
            saving = [left for left in cancelled.args if isinstance(left, asyncio.Task)]
            if saving:
                await asyncio.wait(saving, timeout=SAVING_SECONDS)
            raise
        finally:
            queue.put_nowait(end)

    task = asyncio.create_task(run())
    try:
        while True:
            try:
                # Not asyncio.wait_for: on Python 3.11 it can lose a cancellation that comes
                # together with a part.
                until = budget.left() + GRACE_SECONDS if budget.replayed is None else None
                async with asyncio.timeout(until if told else budget.until(WRITE_NOW)):
                    part = await queue.get()
            except TimeoutError:
                if told:
                    return
                told = True
                part = EMERGENCY
            if part is end:
                break
            yield part
        await task
    finally:
        task.cancel()
        await asyncio.wait({task}, timeout=ANSWER_SECONDS)
        # What waits for a journal that does not answer is not waited for.
        if not task.done() and await journal.answers(ANSWER_SECONDS):
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)


async def watched(
    graph: Graph,
    config: RunnableConfig,
    desk: Desk,
    records: Records,
    given: Any,
    ledger: list[Evidence],
) -> AsyncGenerator[Event, None]:
    """Run the graph with what it is given, or from its checkpoint, and write down what it adds to
    the ledger, until it ends or asks something.
    """
    stream = graph.astream(
        given,
        config,
        context=desk.settings,
        stream_mode=["updates", "custom"],
        subgraphs=True,
        version="v2",
        durability="sync",
    )
    async with aclosing(parts_until_deadline(stream, desk.budget, desk.journal)) as parts:
        async for part in parts:
            if part is EMERGENCY:
                yield Notice(text=_emergency(desk.budget))
                continue
            if part["type"] == "updates":
                await _keep(part["data"], ledger, records)
            events = _of_update(part) if part["type"] == "updates" else [parse_event(part["data"])]
            for event in events:
                if isinstance(event, Finished):
                    await records.finish(event.result)
                yield event


def _emergency(budget: Budget) -> str:
    return (
        f"Less than {100 * WRITE_NOW[0]:.0f} % of the time is left ({budget.left():.0f} s): nothing"
        " more is searched or read, the report is written now."
    )


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
