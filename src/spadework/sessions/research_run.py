"""A research session: the graph to its result, or to the deadline, where code closes it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from spadework.events import Answered, Asked, Event, Finished
from spadework.graph.context import SessionContext
from spadework.graph.early_end import closed_by_code
from spadework.graph.effort.model_examination import recall
from spadework.graph.research import Graph, build_graph
from spadework.graph.state import ResearchState
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import Records
from spadework.sessions.storage.checkpoints import AfterTelling, checkpoints_of, last_state
from spadework.sessions.storage.session_file import JOURNAL
from spadework.sessions.stream import ANSWER_SECONDS, in_its_time, tell_beginning, watch_graph
from spadework.values import Result

#: Maximum steps of the graph; the budget limits rounds long before.
MOST_STEPS = 200


class Researching:
    """The work of one such session. `answered` waits for the user's answer."""

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
        """Yield the events of the work, ending with Finished."""
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
            # Killed between its last checkpoint and its last file.
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
        """Return the result of a run cut off at the deadline in any node: the ledger."""
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
        """Return the saved state of the run."""
        before = await last_state(graph, config)
        if before:
            await recall(self._context)
        return before
