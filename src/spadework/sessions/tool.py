"""Research as a tool for others' agents: `deep_research(question)` for LangChain and LangGraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool, ToolException
from langgraph.config import get_stream_writer

from spadework.errors import SpadeworkError
from spadework.events import Event, Finished
from spadework.sessions.one_call import run_to_end
from spadework.sessions.session import Session
from spadework.settings import Settings

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
