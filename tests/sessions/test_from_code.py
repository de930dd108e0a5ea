"""spadework from somebody's own code: with an event loop and without one, as a tool, as a part of
another graph.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TypedDict

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import spadework
from spadework.errors import SettingsError
from spadework.graph.research import graph
from spadework.settings import Settings
from tests.thinned import thinned

pytestmark = pytest.mark.process

SENTENCE = "Quillon is a wind-up radio that plays for 45 minutes after one winding."
ASKED = "What is the Quillon?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(
        f"# Quillon\n\n{SENTENCE} It was designed in Port Aldermere in 1931.\n"
    )
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


def test_every_public_name_is_there_and_listed() -> None:
    assert sorted(spadework.__all__) == spadework.__all__
    assert set(spadework.__all__) == set(spadework._HOMES) <= set(dir(spadework))
    for name in spadework.__all__:
        assert getattr(spadework, name) is getattr(import_module(spadework._HOMES[name]), name)
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        spadework.serach  # noqa: B018


def test_importing_it_loads_none_of_it() -> None:
    code = (
        "import sys, spadework; print(sorted(n for n in sys.modules if n.startswith(('spadework.',"
        " 'langgraph', 'pydantic'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_question_is_researched_without_an_event_loop(settings: Settings) -> None:
    result = spadework.research_sync(ASKED, settings)
    assert SENTENCE in result.report
    again = spadework.research_sync("Where was it designed?", settings, follows=result.session_id)
    assert "Port Aldermere" in again.report


async def test_a_question_is_researched_where_an_event_loop_runs_already(
    settings: Settings,
) -> None:
    before = threading.active_count()
    assert SENTENCE in spadework.research_sync(ASKED, settings).report
    assert threading.active_count() <= before + 1, "the thread of the run is over"
    with pytest.raises(SettingsError, match="question is empty"):
        spadework.research_sync("  ", settings)


def test_an_error_is_shown_without_another_beside_it(settings: Settings) -> None:
    with pytest.raises(SettingsError) as raised:
        spadework.research_sync("  ", settings)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("inside_a_loop", thinned([True, False], 2))
def test_ctrl_c_cancels_the_run(tmp_path: Path, inside_a_loop: bool) -> None:
    call = (
        "research_sync('What is the Quillon?', Settings(search='library', library=(sys.argv[1],)))"
    )
    main = f"async def main():\n    {call}\nasyncio.run(main())" if inside_a_loop else call
    program = tmp_path / "program.py"
    program.write_text(
        f"import asyncio, sys\nfrom spadework import Settings, research_sync\n{main}\n"
    )
    # The folder to be indexed is a pipe that nobody writes to: the run stands still until it is
    # struck.
    notes = tmp_path / "notes"
    notes.mkdir()
    os.mkfifo(notes / "endless.md")
    with subprocess.Popen(
        [sys.executable, str(program), str(notes)], stderr=subprocess.PIPE, text=True
    ) as process:
        home = Path(os.environ["SPADEWORK_HOME"])
        _until(lambda: any((home / "sessions").glob("*/session.sqlite")), process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert said.strip().endswith("KeyboardInterrupt")


def _until(true: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


async def test_an_agent_calls_it_as_a_tool_and_gets_the_report_and_the_result(
    settings: Settings,
) -> None:
    tool = spadework.research_tool(settings)
    assert list(tool.args) == ["question"]
    call = AIMessage(
        "",
        tool_calls=[
            {"name": "deep_research", "args": {"question": ASKED}, "id": "1", "type": "tool_call"}
        ],
    )
    builder = (
        StateGraph(MessagesState)
        .add_node("tools", ToolNode([tool]))
        .add_edge(START, "tools")
        .add_edge("tools", END)
    )
    agent = builder.compile(InMemorySaver())
    events, answer = [], None
    stream = agent.astream(
        {"messages": [call]},
        {"configurable": {"thread_id": "1"}},
        stream_mode=["custom", "updates"],
        version="v2",
    )
    async for part in stream:
        if part["type"] == "custom":
            events.append(part["data"]["type"])
        elif part["type"] == "updates":
            answer = part["data"]["tools"]["messages"][0]
    assert answer is not None
    assert SENTENCE in answer.text
    assert answer.artifact["sources"][0]["url"] == "library://notes/quillon.md"
    assert ("planned" in events, "searched" in events) == (True, True)


def test_the_tool_works_in_code_that_is_not_asynchronous(settings: Settings) -> None:
    assert SENTENCE in spadework.research_tool(settings).invoke({"question": ASKED})


async def test_what_a_tool_cannot_do_is_told_to_the_model(settings: Settings) -> None:
    told = await spadework.research_tool(settings.with_(search="nothing")).ainvoke(
        {"question": ASKED}
    )
    assert told.startswith("Unknown search provider: nothing.")


class Own(TypedDict, total=False):
    question: str
    topic: str
    report: str
    notes: str


class Context(TypedDict):
    customer: str


async def test_the_graph_is_a_node_of_another_graph(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("library", "search", "iterations"):
        value = getattr(settings, name)
        monkeypatch.setenv(
            f"SPADEWORK_{name.upper()}", str(value[0]) if name == "library" else str(value)
        )
    builder = StateGraph(Own, context_schema=Context).add_node("research", graph)
    own = builder.add_edge(START, "research").add_edge("research", END).compile(InMemorySaver())
    out = await own.ainvoke(
        {"question": ASKED}, {"configurable": {"thread_id": "1"}}, context={"customer": "c"}
    )
    assert SENTENCE in out["report"]


async def test_the_graph_is_called_by_a_node_that_maps_the_state(settings: Settings) -> None:
    async def look_up(state: Own) -> Own:
        found = await graph.ainvoke(
            {"question": f"What is the {state['topic']}?"}, context=settings
        )
        return {"notes": found["report"]}

    own = (
        StateGraph(Own)
        .add_node(look_up)
        .add_edge(START, "look_up")
        .add_edge("look_up", END)
        .compile()
    )
    out = await own.ainvoke({"topic": "Quillon"})
    assert SENTENCE in out["notes"]


def test_five_questions_at_once_under_uvloop(settings: Settings) -> None:
    uvloop = pytest.importorskip("uvloop")
    told: list[str] = []

    async def ask() -> list[spadework.Result]:
        return await asyncio.gather(
            *(
                spadework.research(
                    f"{ASKED} ({n})", settings, on_event=lambda e: told.append(e.type)
                )
                for n in range(5)
            )
        )

    results = uvloop.run(ask())
    assert len({result.session_id for result in results}) == 5
    assert all(SENTENCE in result.report for result in results)
    assert told.count("finished") == 5
