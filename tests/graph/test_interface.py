"""What the graphs tell a server, a form or a tool about themselves, and what they leave in a
checkpointer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from spadework.errors import SettingsError
from spadework.graph import chat, context as session_context, research
from spadework.graph.state import ResearchState
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.world.searx import Searx
from tests.world.sites import World

SENTENCE = "Quillon is a wind-up radio that plays for 45 minutes after one winding."
THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(f"# Quillon\n\n{SENTENCE}\n")
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


@pytest.mark.parametrize(
    ("graph", "given", "handed"),
    [
        (research.graph, {"question"}, {"report", "result"}),
        (chat.graph, {"messages"}, {"messages", "session_id"}),
    ],
    ids=["research", "chat"],
)
def test_a_graph_has_schemas_of_what_it_is_given_and_hands_over(
    graph: Any, given: set[str], handed: set[str]
) -> None:
    asked = graph.get_input_jsonschema()
    assert (set(asked["properties"]), set(asked["required"])) == (given, given)
    assert set(graph.get_output_jsonschema()["properties"]) == handed
    assert "minutes" in graph.get_context_jsonschema()["properties"]


@pytest.mark.filterwarnings("ignore:This API is in beta")
async def test_as_a_tool_it_asks_for_the_question_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = research.graph.as_tool()
    assert set(tool.args) == {"question"}
    assert tool.args["question"]["description"]
    monkeypatch.setenv("SPADEWORK_LIBRARY", str(settings.library[0]))
    monkeypatch.setenv("SPADEWORK_SEARCH", "library")
    assert SENTENCE in (await tool.ainvoke({"question": "What is the Quillon?"}))["report"]


@pytest.mark.parametrize("given", [{}, {"question": " "}, {"question": None}, {"question": 7}])
async def test_no_question_is_refused_in_one_sentence(settings: Settings, given: Any) -> None:
    with pytest.raises(SettingsError, match=r"^The question is empty\. Say what"):
        await research.graph.ainvoke(given, context=settings)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"attachments": 5}, "attachments"),
        ({"attachments": ["a.txt", 7]}, "attachments"),
        ({"follows": 5}, "follows"),
        ({"session_id": ["a"]}, "session_id"),
        ({"earlier": "What is it?"}, "earlier"),
        ({"answers": [None]}, "answers"),
        ({"wishes": {"length": "short"}}, "wishes"),
        ({"most_words": "few"}, "most_words"),
    ],
)
async def test_an_input_of_another_shape_is_refused_in_one_sentence(
    settings: Settings, given: Any, named: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^{named} must be .*\.\n"):
        await research.graph.ainvoke({"question": "What is it?", **given}, context=settings)


async def test_null_for_what_may_be_left_out_is_as_if_it_were(settings: Settings) -> None:
    left_out: Any = dict.fromkeys(
        ("attachments", "session_id", "follows", "earlier", "answers", "wishes", "most_words")
    )
    asked = {"question": "What is the Quillon?", **left_out}
    assert SENTENCE in (await research.graph.ainvoke(asked, context=settings))["report"]


async def test_no_message_is_refused_in_one_sentence(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="The last message has no question"):
        await chat.graph.ainvoke({}, context=settings)  # type: ignore[typeddict-item]


@pytest.mark.timed
@pytest.mark.timeout(30)
async def test_who_answers_late_has_the_whole_time_that_was_left(
    settings: Settings, searx: Searx, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"<title>Quillon</title><main><h1>Quillon</h1><p>{SENTENCE}</p></main>"
    searx.script("", [world.put("blog", "/quillon", page)])
    monkeypatch.setattr(session_context, "KEPT_SECONDS", 1.0)
    for name, value in {**world.env, **searx.env, "SPADEWORK_APPROVE": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SPADEWORK_MINUTES", "0.1")
    graph = research.build_graph(InMemorySaver())
    asked_at = time.monotonic()
    await graph.ainvoke({"question": "What is the Quillon?"}, THREAD)
    await asyncio.sleep(6.0 - (time.monotonic() - asked_at))
    searx.delay = 1.2
    assert SENTENCE in (await graph.ainvoke(Command(resume=""), THREAD))["report"]
    assert time.monotonic() - asked_at > 7.0, "it went on past the time it would have had alone"


@pytest.fixture
def strangers() -> Iterator[list[SerdeEvent]]:
    """The types that were restored from a checkpoint, or were not, without being registered."""
    seen: list[SerdeEvent] = []
    unregister = register_serde_event_listener(seen.append)
    yield seen
    unregister()


def own_graph() -> Any:
    """Somebody's graph with ours as a node."""
    builder = StateGraph(ResearchState).add_node("research", research.build_graph())
    return builder.add_edge(START, "research").add_edge("research", END).compile(InMemorySaver())


@pytest.mark.parametrize(
    "build", [lambda: research.build_graph(InMemorySaver()), own_graph], ids=["alone", "as a node"]
)
async def test_what_is_saved_comes_back_as_it_was_and_no_type_is_unknown(
    build: Any, settings: Settings, strangers: list[SerdeEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LIBRARY", settings.library[0]), ("SEARCH", "library"), ("APPROVE", "1")):
        monkeypatch.setenv(f"SPADEWORK_{name}", str(value))
    graph = build()
    await graph.ainvoke({"question": "What is the Quillon?"}, THREAD)
    await graph.ainvoke(Command(resume=""), THREAD)
    async for _ in graph.aget_state_history(THREAD):
        pass
    saved = (await graph.aget_state(THREAD)).values
    assert isinstance(saved["result"], Result)
    assert SENTENCE in saved["report"]
    assert strangers == []


async def test_a_run_in_a_thread_has_only_what_its_own_input_gives(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LIBRARY", settings.library[0]), ("SEARCH", "library")):
        monkeypatch.setenv(f"SPADEWORK_{name}", str(value))
    first = await Session.start("What is the Quillon?").result()
    graph = research.build_graph(InMemorySaver())
    asked: Any = {
        "question": "shorter",
        "follows": first.session_id,
        "earlier": ["What is the Quillon?"],
        "wishes": "for beginners",
    }
    assert (await graph.ainvoke(asked, THREAD))["result"].revises == first.session_id
    other: Any = {"question": "How long does the spring of the Quillon last?"}
    result = (await graph.ainvoke(other, THREAD))["result"]
    assert (result.revises, result.question) == ("", other["question"])
    result = (await graph.ainvoke({"question": "longer"}, THREAD))["result"]
    assert (result.revises, result.question) == ("", "longer")
