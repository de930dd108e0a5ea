"""Clients of the current protocol and of older ones, over both transports: the official client, and
messages written by hand.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from spadework.settings import Settings
from tests.apps.mcp.serving import TOOLS, command, given, over_http, over_stdio, served, text

pytestmark = pytest.mark.process

OLD = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
QUERY = "How is the Quillon used?"


@pytest.fixture
def offline(notes: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in notes.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


@pytest.mark.parametrize(
    "mode", ["auto", "legacy", pytest.param("2026-07-28", marks=pytest.mark.full)]
)
async def test_the_official_client_over_http(offline: Settings, mode: str) -> None:
    async with over_http(offline, mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        data = given(await client.call_tool("agentic_search", {"query": QUERY}))
    assert data["mode"] == "extractive"
    assert "turn the crank" in data["report"]


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.full)])
async def test_the_official_client_over_stdio(notes: dict[str, str], mode: str) -> None:
    told: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with over_stdio(notes, mode) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        result = await client.call_tool(
            "agentic_search", {"query": QUERY}, progress_callback=on_progress
        )
        made = given(
            await client.call_tool(
                "create_research_report", {"session_id": given(result)["session_id"]}
            )
        )
    assert "turn the crank" in text(result)
    assert (Path(given(result)["folder"]) / "pages").is_dir(), "who sits here is told where"
    assert made["path"].endswith(made["file"])
    assert len(told) > 3
    assert told == sorted(set(told))


async def test_a_program_that_reads_the_text_of_an_answer_as_json(notes: dict[str, str]) -> None:
    script = Path(__file__).with_name("first_client.py")
    server = [sys.executable, "-m", "spadework", "mcp"]
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, script, *server, QUERY),
        env={**os.environ, **notes},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(60):
            said, errors = await client.communicate()
    finally:
        if client.returncode is None:
            client.kill()
            await client.wait()
    assert client.returncode == 0, errors.decode()
    lines = said.decode().splitlines()
    graded = float(lines[0].removeprefix("Completeness: ").removesuffix("%"))
    assert graded == 0, "without a model no share of an open topic is claimed"
    assert lines[1] == "1. Quillon"
    assert lines[2].endswith("quillon.md")
    assert "a wind-up radio" in said.decode().partition("quillon.md\n")[2][:500]
    assert lines[-1].startswith("Session: ")


def opening(version: str) -> list[dict[str, Any]]:
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    }
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


def call(id_: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta = {"progressToken": "p"}
    return {
        "jsonrpc": "2.0",
        "id": id_,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta},
    }


@asynccontextmanager
async def process(
    env: dict[str, str], log: str = os.devnull
) -> AsyncIterator[asyncio.subprocess.Process]:
    started = command(env)
    with open(log, "w") as errors:  # noqa: ASYNC230, PTH123
        made = await asyncio.create_subprocess_exec(
            started.command,
            *started.args,
            env=started.env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            limit=2**24,
        )
    try:
        yield made
    finally:
        assert made.stdin
        made.stdin.close()
        async with asyncio.timeout(20):
            await made.wait()


async def said(
    server: asyncio.subprocess.Process, *messages: dict[str, Any], until: int
) -> list[dict[str, Any]]:
    """Send messages; all that comes back up to the answer with the id `until`. Every line is a
    message.
    """
    assert server.stdin
    assert server.stdout
    server.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
    got: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        while not got or got[-1].get("id") != until:
            got.append(json.loads(await server.stdout.readline()))
    return got


@pytest.mark.parametrize(
    "version", [OLD[0], *(pytest.param(old, marks=pytest.mark.full) for old in OLD[1:3])]
)
async def test_messages_of_an_older_version_over_stdio(notes: dict[str, str], version: str) -> None:
    loud = {"SPADEWORK_LOG": "debug", "PYTHONWARNINGS": "default", "LC_ALL": "C"}
    async with process(notes | loud) as server:
        [hello] = await said(server, opening(version)[0], until=1)
        assert hello["result"]["protocolVersion"] == version
        [listed] = await said(
            server,
            opening(version)[1],
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            until=2,
        )
        assert {tool["name"] for tool in listed["result"]["tools"]} == TOOLS
        got = await said(server, call(3, "agentic_search", {"query": QUERY}), until=3)
        [refusal] = [
            m
            for m in await said(
                server, call(4, "advanced_scrape_url", {"url": "http://127.0.0.1/"}), until=4
            )
            if "id" in m
        ]
    assert "turn the crank" in got[-1]["result"]["content"][0]["text"]
    numbers = [
        message["params"]["progress"]
        for message in got
        if message.get("method") == "notifications/progress"
    ]
    assert len(numbers) > 3
    assert numbers == sorted(set(numbers))
    assert refusal["result"]["isError"] is True


@pytest.mark.parametrize(
    "version", [OLD[0], *(pytest.param(old, marks=pytest.mark.full) for old in OLD[1:])]
)
async def test_messages_of_an_older_version_over_http(offline: Settings, version: str) -> None:
    async with served(offline) as url, httpx.AsyncClient(headers=HEADERS, timeout=60) as client:
        hello = await client.post(url, json=opening(version)[0])
        assert events(hello)[-1]["result"]["protocolVersion"] == version
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        # Older than 2025-06-18 clients do not name the version again.
        session |= {"MCP-Protocol-Version": version} if version >= "2025-06-18" else {}
        assert (
            await client.post(url, headers=session, json=opening(version)[1])
        ).status_code == 202
        got = events(
            await client.post(
                url, headers=session, json=call(2, "agentic_search", {"query": QUERY})
            )
        )
        assert (await client.delete(url, headers=session)).status_code == 200
    assert "turn the crank" in got[-1]["result"]["content"][0]["text"]
    assert [message for message in got if message.get("method") == "notifications/progress"]


def events(response: httpx.Response) -> list[dict[str, Any]]:
    """The messages of an answer, be it JSON or a stream."""
    if response.headers["content-type"].startswith("application/json"):
        return [response.json()]
    return [
        json.loads(line.removeprefix("data: "))
        for line in response.text.splitlines()
        if line.startswith("data: {")
    ]


#: What a Python loads at its start: a thread that writes, by Python and past it, as soon as the
#: server serves.
CHATTER = """
import os, sys, threading, time

def chatter():
    while True:
        served = sys.modules.get("mcp.server.stdio")
        if served and getattr(served, "_claims", None):
            print("noise from Python", flush=True)
            os.write(1, b"noise from C" + bytes([10]))
        time.sleep(0.05)

threading.Thread(target=chatter, daemon=True).start()
"""


@pytest.mark.full
async def test_what_libraries_print_stays_off_standard_output(
    notes: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(CHATTER)
    env = notes | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    async with process(env, log=str(tmp_path / "log")) as server:
        await said(server, *opening("2025-06-18"), until=1)
        got = await said(server, call(2, "agentic_search", {"query": QUERY}), until=2)
    assert "turn the crank" in got[-1]["result"]["content"][0]["text"]
    log = (tmp_path / "log").read_text()
    assert "noise from Python" in log
    assert "noise from C" in log
