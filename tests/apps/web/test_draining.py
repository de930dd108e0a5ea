"""A server that is told to end: it says that it is not ready, takes nothing new, lets runs go on
for a while, and leaves the rest to the next.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests.apps.web.conftest import CLEAR, TOPICS
from tests.apps.web.server import PATIENCE, Server
from tests.apps.web.test_event_stream import ask, logged
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import eventually

pytestmark = pytest.mark.process

STOPPING = "This server is stopping and accepts no new questions."
OTHER = "Who built the lighthouse of Port Aldermere?"
BODY = {"model": "spadework", "messages": [{"role": "user", "content": OTHER}]}


@pytest.fixture
def held(world: World, searx: Searx, model: Model, tmp_path: Path) -> Iterator[Server]:
    """A server on which runs go on for as long as the test wants."""
    play(model, TOPICS)
    model.script("DoubtAnswer", CLEAR)
    world.hang_everything = True
    env = {
        **world.env,
        **searx.env,
        **model.env,
        "SPADEWORK_DRAIN_SECONDS": "600",
        "SPADEWORK_PARALLEL_SESSIONS": "1",
        "SPADEWORK_KNOWLEDGE": "false",
    }
    server = Server(env, tmp_path / "home")
    yield server
    if server.process.poll() is None:
        server.stop(signal.SIGKILL)


def client(server: Server) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url, timeout=30)


async def drained(server: Server, page: httpx.AsyncClient) -> None:
    """Tell the server to end, and wait until it says so."""
    server.process.send_signal(signal.SIGTERM)
    end = time.monotonic() + 5
    while (said := await page.get("/readyz")).status_code == 200:
        assert time.monotonic() < end
    assert (said.status_code, said.text) == (503, f"{STOPPING}\n")


async def exit_code(server: Server) -> int:
    return await asyncio.to_thread(server.process.wait, PATIENCE)


async def test_what_runs_goes_on_to_its_report_and_nothing_new_is_taken(
    held: Server, world: World
) -> None:
    async with client(held) as page:
        assert (await page.get("/readyz")).text == "ready\n"
        session = await ask(page)
        await eventually(lambda: world.requests, 60)
        await drained(held, page)
        csrf = re.search(r'name="csrf" value="([^"]+)"', (await page.get("/")).text)
        assert csrf
        form = {"csrf": csrf[1], "question": OTHER, "unseen": "1"}
        refused = [
            await page.post("/ask", data=form),
            await page.post("/v1/chat/completions", json=BODY),
        ]
        for answer in refused:
            assert answer.status_code == 503
            assert STOPPING in answer.text
            assert int(answer.headers["retry-after"]) > 0
        async with Client(f"{held.url}/mcp") as model:
            called = await model.call_tool("agentic_search", {"query": OTHER})
            assert called.is_error
            assert STOPPING in str(called)
            assert not (await model.call_tool("get_session_data", {"session_id": session})).is_error
        assert (await page.get("/healthz")).text == "ok\n", "it lives"
        numbers = (await page.get("/metrics")).text
        assert 'spadework_questions_refused_total{reason="stopping"} 3.0' in numbers
        assert "spadework_stopping 1.0" in numbers
        world.hang_everything = False
        assert await exit_code(held) == 0
    assert logged(held.home, session)[-1] == "finished"
    assert not list((held.home / "sessions").glob("*/.served"))


@pytest.mark.full
async def test_told_twice_it_ends_at_once_and_says_so_at_every_door(
    held: Server, world: World, model: Model
) -> None:
    streamed: list[str] = []
    async with client(held) as page:
        running = asyncio.create_task(_stream(page, streamed))
        await eventually(lambda: world.requests, 60)
        waiting = await ask(page)  # one runs at a time
        calling = asyncio.create_task(_called(held))
        watching = asyncio.create_task(page.get(f"/s/{waiting}/events"))
        await eventually(lambda: len(list((held.home / "sessions").iterdir())) == 3, 30)
        await drained(held, page)
        began = time.monotonic()
        held.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await running
            assert "The server is stopping; the research can be resumed." in streamed[-2]
            assert streamed[-1] == "data: [DONE]"
            assert "The server is stopping. Finished work is kept." in await calling
            assert "event: done" not in (await watching).text, "the page comes back"
        await exit_code(held)
        assert time.monotonic() - began < PATIENCE < 600
    planned = sum(request.schema_name == "PlanAnswer" for request in model.requests)
    world.hang_everything = False
    held.start()
    marks = {path.parent.name for path in (held.home / "sessions").glob("*/.served")}
    assert waiting in marks
    assert len(marks) <= 2, "whoever calls by MCP goes on by themselves"
    await eventually(lambda: not list((held.home / "sessions").glob("*/.served")), 60)
    assert {logged(held.home, session)[-1] for session in marks} == {"finished"}
    asked = [r for r in model.requests if r.schema_name == "PlanAnswer"]
    assert len(asked) == planned + 1, "what was paid for is not paid again"
    assert held.stop() is not None


@pytest.mark.full
async def test_what_is_not_done_in_time_is_left_to_the_next_server(
    held: Server, world: World
) -> None:
    held._env["SPADEWORK_DRAIN_SECONDS"] = "1"
    held.stop()
    held.start()
    async with client(held) as page:
        session = await ask(page)
        await eventually(lambda: world.requests, 60)
    held.process.send_signal(signal.SIGTERM)
    assert await exit_code(held) == 0
    assert "Waiting up to 1 s for 1 run to finish; send another signal to stop now." in held.log()
    assert logged(held.home, session)[-1] not in ("finished", "ended")
    world.hang_everything = False
    held.start()
    await eventually(lambda: logged(held.home, session)[-1] == "finished", 60)
    held.stop()


async def _stream(page: httpx.AsyncClient, lines: list[str]) -> None:
    body = {**BODY, "stream": True}
    async with page.stream("POST", "/v1/chat/completions", json=body, timeout=120) as answer:
        lines += [line async for line in answer.aiter_lines() if line]


async def _called(server: Server) -> str:
    async with Client(f"{server.url}/mcp") as model:
        given: dict[str, Any] = {"query": "How many inhabitants does it have?"}
        return str(json.loads((await model.call_tool("agentic_search", given)).model_dump_json()))
