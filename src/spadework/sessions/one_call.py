"""Research in one call, and as a tool for others' agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.tools import StructuredTool, ToolException
from langgraph.config import get_stream_writer

from spadework.budget import Budget
from spadework.errors import SpadeworkError
from spadework.events import Event, Finished
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result

T = TypeVar("T")


async def research(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
) -> Result:
    """The result of researching a question, or of following up the session `follows` (its id).

    `providers` are what is searched with: see `Session.search_with`. Raises SettingsError for
    settings that cannot be used, SessionNotFound for an unknown `follows`.
    """
    session = Session.start(
        question, settings=settings, budget=budget, attachments=attachments, follows=follows
    )
    return await session.search_with(*providers).result()


def research_sync(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
) -> Result:
    """The same for code that is not asynchronous, also where an event loop runs already, as in a
    notebook.

    Ctrl-C cancels the run (the session can be resumed) and raises KeyboardInterrupt.
    """
    return run_to_end(
        lambda: research(
            question,
            settings,
            budget,
            attachments=attachments,
            follows=follows,
            providers=providers,
        )
    )


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `work` gives, run to its end; in a thread where this one has a running loop."""
    if not _loop_runs():
        return asyncio.run(work())
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    loop = runner.get_loop()
    task = loop.create_task(work())

    async def done() -> T:
        return await task

    def run() -> T:
        with runner:
            return runner.run(done())

    with ThreadPoolExecutor(1, thread_name_prefix="spadework") as thread:
        running = thread.submit(run)
        try:
            return running.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


DESCRIPTION = (
    "Research a question that needs reading: search, read, and write a report in Markdown in which"
    " every sentence of fact cites words that stand in a source, as [n]. Takes from seconds to"
    " minutes. Ask one whole question in words."
)


def research_tool(settings: Settings | None = None) -> StructuredTool:
    """The tool `deep_research(question)`. Its content is the report; its artifact the whole result
    as JSON (`spadework.Result`).

    In a LangGraph run the events of the research come on the custom stream. What goes wrong is told
    to the model in one sentence.
    """

    async def deep_research(question: str) -> tuple[str, dict[str, Any]]:
        # No reader of events can answer here: a tool's caller is a model.
        asked = (settings or Settings.load()).with_(clarify=False, approve=False)
        write = _writer()

        def tell(event: Event) -> None:
            if not isinstance(event, Finished):
                write(event.model_dump(mode="json"))

        try:
            result = await Session.start(question, settings=asked).result(tell)
            return result.report, result.model_dump(mode="json")
        except SpadeworkError as error:
            raise ToolException(f"{error} {error.hint}".strip()) from None

    def deep_research_sync(question: str) -> tuple[str, dict[str, Any]]:
        return run_to_end(lambda: deep_research(question))

    return StructuredTool.from_function(
        func=deep_research_sync,
        coroutine=deep_research,
        name="deep_research",
        description=DESCRIPTION,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _writer() -> Callable[[Any], None]:
    """Writes to the custom stream of the LangGraph run around this, if there is one."""
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):
        return lambda event: None
