"""`langgraph dev` serves the graph of langgraph.json, as a newcomer would start it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from mcp import Client

from spadework.settings import Settings
from tests.world.dev import serving

NOTES = (
    "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding. It was"
    " designed in Port Aldermere in 1931.\n"
)


SENTENCE = "Quillon is a wind-up radio that plays for 45 minutes after one winding."

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("server"),
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server writes what it has to say."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="module")
def silent() -> Iterator[socket.socket]:
    """A search engine that takes connections and never answers."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        sock.setblocking(False)
        yield sock


@pytest.fixture(scope="module")
def server(log: Path, silent: socket.socket) -> Iterator[str]:
    folder = log.parent
    (folder / "notes").mkdir()
    (folder / "notes" / "quillon.md").write_text(NOTES)
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENAI", "LANGSMITH"))
    }
    env |= {
        "SPADEWORK_HOME": str(folder / "home"),
        "SPADEWORK_LIBRARY": str(folder / "notes"),
        "SPADEWORK_SEARCH": "library",
    }
    env |= {"SEARXNG_URL": "http://127.0.0.1:{1}".format(*silent.getsockname())}
    with serving(env, log) as url:
        yield url


@pytest.fixture
async def client(server: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server) as client:
        yield client


@pytest.fixture
async def thread(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


ASKED = {"question": "What is the Quillon?"}


def says(text: str) -> dict[str, Any]:
    """The input of the chat graph."""
    return {"messages": [{"role": "user", "content": text}]}


async def test_a_question_runs_without_context_and_hands_over_a_report(
    client: LangGraphClient, thread: str
) -> None:
    types = []
    async for part in client.runs.stream(
        thread, "research", input=ASKED, stream_mode=["custom", "values"]
    ):
        if part.event.startswith("custom"):
            types.append(part.data["type"])
    state = await client.threads.get_state(thread)
    assert SENTENCE in state["values"]["report"]
    assert {"planned", "assessed", "finished"} <= set(types)


@pytest.mark.parametrize(("graph_id", "inside"), [("research", ""), ("chat", "research:")])
async def test_the_drawing_shows_the_nodes_of_the_worker_and_no_edge_that_is_not_there(
    client: LangGraphClient, graph_id: str, inside: str
) -> None:
    drawing = await client.assistants.get_graph(graph_id, xray=True)
    nodes = {str(node["id"]) for node in drawing["nodes"]}
    edges = {(str(edge["source"]), str(edge["target"])) for edge in drawing["edges"]}
    assert {
        f"{inside}{name}"
        for name in (
            "open",
            "clarify",
            "plan",
            "approve",
            "fuse",
            "assess",
            "write",
            "verify",
            "save",
        )
    } <= nodes
    assert {
        f"{inside}worker:{name}" for name in ("search", "select", "read", "clean", "distil")
    } <= nodes
    assert {target for source, target in edges if source == f"{inside}assess"} == {
        f"{inside}worker:search",
        f"{inside}write",
    }
    assert {source for source, target in edges if target == f"{inside}fuse"} == {
        f"{inside}worker:distil",
        f"{inside}__error_handler__worker",
    }
    assert all(any(node in edge for edge in edges) for node in nodes), "nothing stands alone"


@pytest.mark.parametrize("graph_id", ["research", "chat"])
async def test_the_settings_are_a_form_that_asks_for_no_secret(
    client: LangGraphClient, graph_id: str
) -> None:
    [assistant] = await client.assistants.search(graph_id=graph_id)
    form = (await client.assistants.get_schemas(assistant["assistant_id"]))["context_schema"][
        "properties"
    ]
    assert all(field["title"] and field["description"] for field in form.values())
    assert (
        form["minutes"]["exclusiveMinimum"],
        form["minutes"]["maximum"],
        form["minutes"]["default"],
    ) == (0, 1440, 10)
    assert form["effort"]["enum"] == ["quick", "normal", "deep"]
    assert not [
        name
        for name in form
        if "key" in name or name == "token" or name in ("home", "library", "allow_hosts")
    ]
    assert set(form) <= set(Settings.model_fields)
    groups = [field["group"] for field in form.values()]
    together = [group for group, _ in groupby(groups)]
    assert together == ["Limits", "Answer", "Search", "Reading", "Models"]
    assert (form["minutes"]["title"], "assess" in form["minutes"]["langgraph_nodes"]) == (
        "Limits: Minutes",
        True,
    )


@pytest.mark.parametrize(("graph_id", "given"), [("research", "question"), ("chat", "messages")])
async def test_what_a_graph_is_given_is_a_form_and_a_tool_of_mcp(
    client: LangGraphClient, server: str, graph_id: str, given: str
) -> None:
    [assistant] = await client.assistants.search(graph_id=graph_id)
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert set(schemas["input_schema"]["properties"]) == {given}
    assert schemas["output_schema"]["properties"]
    async with Client(f"{server}/mcp") as mcp:
        tools = {tool.name: tool for tool in (await mcp.list_tools()).tools}
    assert set(tools[graph_id].input_schema["properties"]) == {given}
    assert tools[graph_id].input_schema["required"] == [given]


async def test_mcp_researches(server: str) -> None:
    async with Client(f"{server}/mcp") as mcp:
        answer = await mcp.call_tool("research", ASKED)
    assert SENTENCE in str(answer.content)


async def test_no_question_is_refused_in_one_sentence(client: LangGraphClient, thread: str) -> None:
    parts = [part async for part in client.runs.stream(thread, "research", input={})]
    [error] = [part.data for part in parts if part.event == "error"]
    assert error == {
        "error": "SettingsError",
        "message": "The question is empty. Say what you want to know.",
    }


async def test_a_disk_that_fails_is_told_in_one_sentence(
    client: LangGraphClient, thread: str, log: Path
) -> None:
    session, context = "20260101-000000-nodisk", {"approve": True}
    asked = {**ASKED, "session_id": session}
    await client.runs.wait(thread, "research", input=asked, context=context)
    pages = log.parent / "home" / "sessions" / session / "pages"
    pages.rmdir()
    pages.write_text("")  # what stands in their place
    resumed = client.runs.stream(thread, "research", command={"resume": ""}, context=context)
    parts = [part async for part in resumed]
    errors = [part.data for part in parts if part.event == "error"]
    assert [error["error"] for error in errors] == ["DiskStopped"], parts
    [error] = errors
    assert error["message"].startswith("The run cannot continue: ")
    assert error["message"].endswith("Everything gathered is kept.")


async def test_what_is_the_owners_alone_cannot_be_set_by_a_run(
    client: LangGraphClient, thread: str, tmp_path: Path
) -> None:
    (tmp_path / "private.md").write_text(
        "# Secret\n\nThe Quillon is not for callers of the server, says the private note.\n"
    )
    context = {"library": [str(tmp_path)], "iterations": 1, "home": str(tmp_path / "elsewhere")}
    values = await client.runs.wait(thread, "research", input=ASKED, context=context)
    assert SENTENCE in values["report"]
    assert "private" not in values["report"]
    assert not (tmp_path / "elsewhere").exists()


async def test_a_context_that_is_wrong_is_refused_in_one_sentence(
    client: LangGraphClient, thread: str
) -> None:
    parts = [
        part
        async for part in client.runs.stream(
            thread, "research", input=ASKED, context={"minutes": -1}
        )
    ]
    [error] = [part.data for part in parts if part.event == "error"]
    assert error == {"error": "SettingsError", "message": "minutes must be greater than 0, not -1."}


async def test_a_run_stops_to_ask_and_goes_on_with_the_answer(
    client: LangGraphClient, thread: str
) -> None:
    context = {"clarify": True, "approve": True, "iterations": 1}
    await client.runs.wait(thread, "research", input={"question": "What is it?"}, context=context)
    [asked] = (await client.threads.get_state(thread))["interrupts"]
    assert (asked["value"]["type"], asked["value"]["kind"]) == ("asked", "clarify")
    assert asked["value"]["config"]["allow_respond"], "Studio and the chat pages show a form"
    answer = [{"type": "response", "args": "the Quillon"}]
    await client.runs.wait(thread, "research", command={"resume": answer}, context=context)
    [asked] = (await client.threads.get_state(thread))["interrupts"]
    assert asked["value"]["kind"] == "approve"
    assert "Quillon" in str(asked["value"]["plan"]["topics"])
    edited = asked["value"]["action_request"] | {"args": {"topics": "Quillon"}}
    answer = [{"type": "edit", "args": edited}]
    values = await client.runs.wait(thread, "research", command={"resume": answer}, context=context)
    assert [topic["name"] for topic in values["result"]["topics"]] == ["Quillon"]
    assert SENTENCE in values["report"]


async def test_a_conversation_asks_answers_and_is_followed_up(
    client: LangGraphClient, thread: str
) -> None:
    context = {"approve": True, "iterations": 1}
    asked = says("What is the Quillon?")
    told = await _told(client, thread, {"input": asked, "context": context})
    assert told == ["foreseen", "searched", "planned", "plan"], (
        "the plan is shown as soon as it is made"
    )
    [asked] = (await client.threads.get_state(thread))["interrupts"]
    assert asked["value"]["kind"] == "approve"
    told = await _told(client, thread, {"command": {"resume": ""}, "context": context})
    assert told[-1] == "report"
    assert {"read", "progress", "assessed", "draft"} <= set(told)
    first = (await client.threads.get_state(thread))["values"]
    message = first["messages"][-1]
    assert message["type"] == "ai"
    assert SENTENCE in message["content"]
    assert message["additional_kwargs"]["sources"][0]["url"] == "library://notes/quillon.md"
    second = await client.runs.wait(thread, "chat", input=says("Where was it designed?"))
    assert "designed in Port Aldermere" in second["messages"][-1]["content"]
    assert second["session_id"] != first["session_id"]
    assert len(second["messages"]) == 4


async def _told(client: LangGraphClient, thread: str, run: dict[str, Any]) -> list[str]:
    """What a run of `chat` tells on the stream of its thread, in order: the types of events, and
    what each message is.
    """
    told = []
    parts = client.runs.stream(thread, "chat", stream_mode=["custom", "messages-tuple"], **run)
    async for part in parts:
        if part.event == "custom":
            told.append(part.data["type"])
        elif part.event == "messages" and part.data[0]["type"] != "human":
            told.append(part.data[0]["id"].partition("-")[0])
    return told


async def test_two_runs_go_at_once(client: LangGraphClient) -> None:
    threads = [str((await client.threads.create())["thread_id"]) for _ in range(2)]
    done = await asyncio.gather(
        *(client.runs.wait(thread, "research", input=ASKED) for thread in threads)
    )
    assert [SENTENCE in values["report"] for values in done] == [True, True]


async def test_a_run_is_cancelled_and_the_thread_can_be_used_again(
    client: LangGraphClient, thread: str, silent: socket.socket
) -> None:
    run = await client.runs.create(thread, "research", input=ASKED, context={"search": "searxng"})
    async with asyncio.timeout(30):
        asked, _ = await asyncio.get_running_loop().sock_accept(silent)
    with asked:
        await client.runs.cancel(thread, run["run_id"], wait=True)
        assert (await client.runs.get(thread, run["run_id"]))["status"] == "interrupted"
    values = await client.runs.wait(thread, "research", input=ASKED, context={"iterations": 1})
    assert SENTENCE in values["report"]


async def test_a_second_question_in_a_thread_starts_afresh(
    client: LangGraphClient, thread: str
) -> None:
    first = (await client.runs.wait(thread, "research", input=ASKED))["result"]
    second = (
        await client.runs.wait(
            thread,
            "research",
            input={"question": "Where is Port Aldermere?"},
            context={"iterations": 1},
        )
    )["result"]
    assert second["session_id"] != first["session_id"]
    assert not {topic["name"] for topic in first["topics"]} & {
        topic["name"] for topic in second["topics"]
    }
    assert [e["id"] for topic in second["topics"] for e in topic["evidence"]][:1] == ["E1"]
    assert second["iterations"] == 1


def test_nothing_has_blocked_the_event_loop(log: Path) -> None:
    said = log.read_text()
    assert "BlockingError" not in said
    assert "Blocking call" not in said


def test_no_type_that_was_saved_is_unknown_to_the_server(log: Path) -> None:
    assert "Deserializing unregistered type" not in log.read_text()
