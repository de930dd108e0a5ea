"""Run the research loop as a conversation, for LangGraph chat clients."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Annotated, Any, Literal, NotRequired, Required, cast

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_core.messages.ai import UsageMetadata
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.graph.message import push_message
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import TypedDict

from spadework.errors import SettingsError
from spadework.events import (
    Assessed,
    Event,
    Finished,
    Notice,
    Planned,
    Read,
    Searched,
    Wrote,
    parse_event,
)
from spadework.graph import research
from spadework.graph.context import new_session_id
from spadework.graph.followup.reception import receive as greet
from spadework.graph.state import ResearchState
from spadework.settings import Settings
from spadework.tools.export.markdown_report import escape_markdown, safe_url
from spadework.values import STATE_WORDS, Result
from spadework.visible import one_line

#: The kind of a message, stored in its `additional_kwargs["telling"]`.
Telling = Literal["plan", "progress", "draft"]
_TITLE_CHARS = 200


class Teller:
    """Turns a run's events into progress messages, which the thread does not store."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._round = 1
        self._begun: set[str] = set()

    def describe(self, event: Event) -> Iterator[AIMessageChunk]:
        """Yield an event's message chunks, if any."""
        if isinstance(event, Planned):
            topics = (_quote_words(topic.name) for topic in event.plan.topics)
            listed = (f"{n}. {name}" for n, name in enumerate(topics, 1))
            yield self._piece("plan", "\n".join(["**Plan**", "", *listed, ""]))
        elif isinstance(event, Wrote) and not event.final:
            yield self._piece("draft", f"*So far:*\n\n{event.markdown.strip()}\n")
        elif line := _line(event):
            yield self._piece("progress", line)
        if isinstance(event, Assessed):
            self._round = max(self._round, event.round) + 1

    def _piece(self, telling: Telling, text: str) -> AIMessageChunk:
        # A round's assessment is sent before its draft, so the round number has already been
        # increased.
        number = self._round - 1 if telling == "draft" else self._round
        id_ = f"{telling}-{number}-{self._session_id}"
        if id_ in self._begun:
            return AIMessageChunk(content=f"\n{text}", id=id_)
        # Some clients print all messages in a row, so a blank line separates them.
        apart, told = "\n\n" if self._begun else "", {"telling": telling}
        self._begun.add(id_)
        return AIMessageChunk(content=apart + text, id=id_, additional_kwargs=told)


def _line(event: Event) -> str:
    if isinstance(event, Notice):
        return f"- {_quote_words(event.text)}"
    if isinstance(event, Searched) and event.topic:  # The search before the plan has no topic.
        return (
            f"- Searched {_quote_words(event.provider)} for “{_quote_words(event.query)}”:"
            f" {event.hits} found"
        )
    if isinstance(event, Read) and not event.reason:
        name, url = _quote_words(event.title or event.url), safe_url(event.url)
        return f"- Read [{name}]({url})" if url else f"- Read {name}"
    if isinstance(event, Assessed):
        states = (f"{_quote_words(c.topic)}: {STATE_WORDS[c.state]}" for c in event.coverage)
        judged = "Already known" if event.round == 0 else f"Round {event.round}"
        quotes = "1 quote" if event.evidence == 1 else f"{event.evidence} quotes"
        return f"- **{judged}**: {quotes}. {'; '.join(states)}"
    return ""


def _quote_words(text: str) -> str:
    return escape_markdown(one_line(text, _TITLE_CHARS))


MOST_EARLIER = 5
MOST_WISHES = 4_000


class ChatInput(TypedDict):
    """The input of a turn. The last human message is the question."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]


class ChatState(TypedDict, total=False):
    """The state of a thread. Only the messages and the session id are kept after a turn."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    session_id: Required[str]
    question: Required[str]
    follows: str
    earlier: list[str]
    wishes: str


class ChatOutput(TypedDict):
    """The output of a turn. The report is the last message."""

    messages: NotRequired[Annotated[list[AnyMessage], add_messages]]
    session_id: NotRequired[str]


Chat = CompiledStateGraph[ChatState, Settings, ChatInput, ChatOutput]


async def receive(
    state: ChatState, runtime: Runtime[Settings]
) -> Command[Literal["listen", "__end__"]]:
    """Answer small talk or start research. Raises SettingsError if the last message has no text."""
    said = _human_words(state)[-1]
    settings = runtime.context if isinstance(runtime.context, Settings) else Settings.load()
    greeted = await greet(said, settings)
    if greeted.research:
        return Command(goto="listen")
    return Command(goto="__end__", update={"messages": [AIMessage(content=greeted.answer)]})


async def listen(state: ChatState) -> dict[str, Any]:
    """Take the question from the last human message, and wishes for the report's form from system
    messages. The run follows up on the thread's last session.
    """
    *earlier, asked = _human_words(state)
    wished = [m.text.strip() for m in state["messages"] if isinstance(m, SystemMessage)]
    return {
        "question": asked,
        "earlier": earlier[-MOST_EARLIER:],
        "follows": state.get("session_id", ""),
        "wishes": "\n\n".join(filter(None, wished))[:MOST_WISHES],
        "session_id": new_session_id(),
    }


def _human_words(state: ChatState) -> list[str]:
    said = [m.text.strip() for m in state.get("messages", []) if isinstance(m, HumanMessage)]
    if not said or not said[-1]:
        raise SettingsError("The last message has no question. Write what you want to know.")
    return [text for text in said if text]


async def run(state: ChatState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Run research, streaming events and progress messages. The thread stores only the report."""
    asked = {name: value for name, value in state.items() if name != "messages"}
    teller = Teller(state["session_id"])
    result: Result | None = None
    # LangGraph servers draw the subgraph only if this node refers to it by name.
    async with aclosing(_events(research.graph, asked)) as events:
        async for event in events:
            runtime.stream_writer(event.model_dump(mode="json"))
            for piece in teller.describe(event):
                push_message(piece, state_key=None)
            if isinstance(event, Finished):
                result = event.result
    if result is None:
        raise AssertionError("research has handed over its result")
    return {"messages": [message_of(result)]}


async def _events(loop: research.Graph, asked: dict[str, Any]) -> AsyncGenerator[Event, None]:
    parts = loop.astream(
        cast("ResearchState", asked), stream_mode="custom", subgraphs=True, version="v2"
    )
    async for part in parts:
        if part["type"] == "custom":
            yield parse_event(part["data"])


def message_of(result: Result) -> AIMessage:
    """Return a result as a message, with its details in `additional_kwargs`."""
    used = result.usage
    return AIMessage(
        content=result.report,
        id=f"report-{result.session_id}",
        additional_kwargs={
            "session_id": result.session_id,
            "status": result.status,
            "sources": [one.model_dump(include={"n", "url", "title"}) for one in result.sources],
        },
        usage_metadata=UsageMetadata(
            input_tokens=used.tokens_in,
            output_tokens=used.tokens_out,
            total_tokens=used.tokens_in + used.tokens_out,
        ),
    )


def build_chat(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Chat:
    """Return the compiled chat graph, which saves its threads with `checkpointer`."""
    builder = StateGraph(
        ChatState, context_schema=Settings, input_schema=ChatInput, output_schema=ChatOutput
    )
    builder.add_node(receive)
    builder.add_node(listen)
    builder.add_node("research", run)
    builder.add_edge(START, "receive")
    builder.add_edge("listen", "research")
    builder.add_edge("research", END)
    return builder.compile(checkpointer=checkpointer, name="chat")


#: The graph for LangGraph servers, which provide their own checkpointer.
graph = build_chat()
