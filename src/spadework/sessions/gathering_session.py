"""A session that gathers pages or reads one page, without writing a report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from spadework.errors import FetchError, SearchError, SpadeworkError
from spadework.events import Event, Finished, Read, Reading, Timed, Troubled
from spadework.graph.context import SessionContext
from spadework.graph.effort.workload import Stopped
from spadework.graph.nodes.gather import CANCELLED, Gathered, begin_state, gather, result_of_pages
from spadework.graph.nodes.read import page_at, told_failure, told_page
from spadework.graph.nodes.recall import recorded_pages
from spadework.graph.parts import PagesAlone
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import Records
from spadework.sessions.storage.files import JOURNAL
from spadework.sessions.stream import (
    ANSWER_SECONDS,
    EMERGENCY,
    parts_until_deadline,
    tell_beginning,
)
from spadework.tools.ranking.selection import LOCAL
from spadework.tools.stores.disk import on_disk
from spadework.values import Problem, Result, Unread


def needed_providers(brief: Brief, providers: tuple[Any, ...]) -> tuple[Any, ...] | PagesAlone:
    """Return the providers to open. Reading a web page needs none."""
    if brief.kind == "research":
        return providers
    search = brief.kind == "gather" or brief.question.startswith(LOCAL)
    return PagesAlone(providers, search=search)


class Gathering:
    """Runs a session that gathers pages or reads one page. `gathered` is the result so far."""

    def __init__(self, brief: Brief, context: SessionContext, records: Records) -> None:
        self.gathered = Gathered()
        self._brief, self._context, self._records = brief, context, records

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events, ending with Finished. Pages are recorded even on failure. Raises
        FetchError if the only page cannot be read, and SearchError if all searches failed and
        no page was read.
        """
        fault: SpadeworkError | None = None
        record = self._context.record
        tell_beginning(self._context, self._brief, {}, self._records)
        try:
            work = self._gather() if self._brief.kind == "gather" else self._one()
            try:
                async with aclosing(work) as events:
                    async for event in events:
                        yield event
                fault = self._unanswered()
            except FetchError as error:
                fault = error
            if not await self._context.journal.answers(ANSWER_SECONDS):
                self._records.late.hangs(JOURNAL)
            await self._keep()
            for problem in self.gathered.problems:
                record.tell(Troubled(problem=problem))
            budget = self._context.budget
            cut = "stop" if self._context.stop.is_set() else budget.refused or budget.ended_by()
            result = await self._finish(cut, failed=fault is not None)
        except (asyncio.CancelledError, GeneratorExit):
            await self._finish(CANCELLED)
            raise
        if fault is None:
            record.tell(Finished(result=result))
        for event in record.heard():
            yield event
        if fault is not None:
            raise fault

    async def _gather(self) -> AsyncGenerator[Event, None]:
        context = self._context
        stream = gather.astream(
            begin_state(context, self._brief.question, self._brief.pages),
            context=context.settings,
            stream_mode=["values"],
            version="v2",
        )
        async with aclosing(parts_until_deadline(stream, context)) as parts:
            async for part in parts:
                if isinstance(part, Timed):
                    yield cast("Event", part)
                elif part is not EMERGENCY:
                    self.gathered = Gathered.of(part["data"])

    async def _one(self) -> AsyncGenerator[Event, None]:
        url, record = self._brief.question, self._context.record
        record.tell(Reading(topic="", url=url))
        for event in record.heard():
            yield event
        try:
            page = await page_at(self._context, url)
        except FetchError as error:
            problem = Problem(stage="read", subject=url, reason=str(error))
            self.gathered = Gathered(
                unread=(Unread(url=url, reason=str(error)),), problems=(problem,)
            )
            record.tell(Read(topic="", url=url, **told_failure(str(error), error.attempts)))
            raise
        except Stopped:
            return
        self.gathered = Gathered(pages=(page,), found=1)
        record.tell(Read(topic="", url=page.url, **told_page(page)))

    async def _keep(self) -> None:
        self._context.page_cache.keep(self.gathered.pages, self._context.pages.get)
        late = await self._context.page_cache.settle()
        await self._context.note_searching()
        problems = dict.fromkeys([*self.gathered.problems, *late])
        self.gathered = self.gathered.model_copy(update={"problems": tuple(problems)})

    async def _finish(self, why: str, *, failed: bool = False) -> Result:
        if why and not (self.gathered.pages or self._context.journal.hangs):
            pages = await on_disk(recorded_pages, self._context.folder)
            self.gathered = self.gathered.model_copy(update={"pages": tuple(pages)})
        asked = self._brief.question
        result = result_of_pages(self._context, asked, self.gathered, why=why, failed=failed)
        await self._records.finish(result)
        await self._records.progressed()  # normally done on Finished, which may be missing
        return result

    def _unanswered(self) -> SearchError | None:
        if self.gathered.answered or self.gathered.pages or self._context.stop.is_set():
            return None
        failed = [p for p in self.gathered.problems if p.stage == "search"]
        said = " ".join(dict.fromkeys(f"{p.subject}: {p.reason}" for p in failed))
        return SearchError(f"Every search failed. {said}".rstrip())
