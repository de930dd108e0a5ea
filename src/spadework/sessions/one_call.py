"""Research a question in one call or as an agent's tool."""

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
from spadework.graph.followup.reception import Greeted, receive
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result

__all__ = ["Greeted", "receive", "research", "research_sync", "research_tool", "run_to_end"]

T = TypeVar("T")


async def research(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Result:
    """Research a question, and return the result. `follows` is an earlier session's id. For
    `providers`, see `Session.search_with`. Raises SettingsError if the question is empty or a
    setting is unusable, and SessionNotFound if `follows` is unknown.
    """
    session = Session.start(
        question, settings=settings, budget=budget, attachments=attachments, follows=follows
    )
    return await session.search_with(*providers).result(on_event)


def research_sync(
    question: str,
    settings: Settings | None = None,
    budget: Budget | None = None,
    *,
    attachments: Sequence[str | Path] = (),
    follows: str = "",
    providers: Sequence[Any] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Result:
    """Call `research` from synchronous code, even in a notebook.

    Ctrl-C cancels the run, which can then be resumed.
    """
    return run_to_end(
        lambda: research(
            question,
            settings,
            budget,
            attachments=attachments,
            follows=follows,
            providers=providers,
            on_event=on_event,
        )
    )


def run_to_end(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` and return its result, even if this thread is already running an event loop."""
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
    "Research a question that needs several sources: search the web, read pages, and write a"
    " Markdown report in which every factual sentence cites the exact words of a source as [n]."
    " Takes seconds to minutes. Ask one complete question."
)


def research_tool(settings: Settings | None = None) -> StructuredTool:
    """Return the LangChain tool `deep_research(question)`. Its content is the report, and its
    artifact is the result as JSON. Errors are returned to the model as one sentence.
    """

    async def deep_research(question: str) -> tuple[str, dict[str, Any]]:
        # The calling model cannot answer clarifying questions.
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
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):
        return lambda event: None
