"""A client that goes away in the middle of a call: the session ends at once, can be taken up again,
and nothing is left running or open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx
import psutil
import pytest
from mcp import Client

from spadework.errors import SessionBusy
from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.sessions.storage.files import hold_session
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from tests.apps.mcp.serving import QUESTION, given, over_stdio, served, until
from tests.world.model import Model
from tests.world.sites import World

pytestmark = pytest.mark.process

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


#: Those who carry messages: what they keep between two of them is theirs.
CARRIERS = (
    "/site-packages/mcp/",
    "/site-packages/uvicorn/",
    "/site-packages/anyio/",
    "/site-packages/sse_starlette/",
    "/site-packages/starlette/",
)


@asynccontextmanager
async def leaving_nothing() -> AsyncIterator[None]:
    """After what happens inside, no task and no connection of the engine is there that was not
    there before.
    """
    tasks, connections = working(), connected()
    yield
    await until(lambda: not (working() - tasks or connected() - connections))


def working() -> set[str]:
    """The tasks of this loop, but for those that carry messages."""
    found = (
        (task.get_name(), getattr(task.get_coro(), "cr_code", None)) for task in asyncio.all_tasks()
    )
    return {
        f"{name} {code}" for name, code in found if not any(part in str(code) for part in CARRIERS)
    }


def connected() -> set[tuple[str, int]]:
    """Connections that this process has made to servers of the world; those only take
    connections.
    """
    found = psutil.Process().net_connections("tcp")
    return {
        tuple(c.laddr)
        for c in found
        if c.status == "ESTABLISHED" and c.raddr and c.raddr.ip.startswith(("127.0.1.", "127.0.2."))
    }


async def once_reading(world: World) -> None:
    """Wait until a page is being fetched."""
    await until(lambda: [record for record in world.requests if record.path != "/robots.txt"])


def the_session(settings: Settings) -> str:
    [session] = list_sessions(settings.home)
    return session.id


@pytest.mark.full
@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.full)])
async def test_a_cancelled_call_ends_its_session_which_can_be_taken_up(
    settings: Settings, world: World, model: Model, mode: str
) -> None:
    world.hanging = {"encyclopedia", "docs", "news", "mirror", "blog", "forum", "archive"}
    async with served(settings) as url, Client(url, mode=mode) as client:
        async with leaving_nothing(), anyio.create_task_group() as group:
            wished = {"query": QUESTION, "instructions": "As a table."}
            group.start_soon(client.call_tool, "agentic_search", wished)
            await once_reading(world)
            group.cancel_scope.cancel()
        world.hanging = set()
        session_id = the_session(settings)
        overview = given(
            await client.call_tool("get_session_data", {"session_id": session_id, "part": "plan"})
        )
        assert overview["state"] == "cancelled"
        assert [row["name"] for row in overview["rows"]] == ["Inhabitants", "Lighthouse"]
        planned = sum(request.schema_name == "PlanAnswer" for request in model.requests)
        again = given(
            await client.call_tool("agentic_search", {"query": QUESTION, "session_id": session_id})
        )
    assert again["session_id"] == session_id
    assert again["status"] == "completed"
    assert sum(request.schema_name == "PlanAnswer" for request in model.requests) == planned == 1, (
        "what was paid for is not paid again"
    )
    done = await replay(settings.home, session_id)
    assert [str(missing) for missing in done.missing] == [], "what was wished stays wished"


@pytest.mark.full
async def test_a_client_of_an_older_version_that_closes_its_request_ends_the_session(
    settings: Settings, world: World
) -> None:
    world.hang_everything = True
    call = {
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "agentic_search", "arguments": {"query": QUESTION}},
    }  # fmt: skip
    params = {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    }
    async with served(settings) as url, leaving_nothing():
        async with httpx.AsyncClient(headers=HEADERS, timeout=30) as client:
            hello = await client.post(
                url,
                content=json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
                ),
            )
            session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
            await client.post(
                url,
                headers=session,
                content=json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            )
            async with client.stream("POST", url, headers=session, content=json.dumps(call)):
                await once_reading(world)
        await ended(settings)
    world.hang_everything = False
    result = await Session.resume(the_session(settings), home=settings.home).result()
    assert result.citations


async def ended(settings: Settings) -> None:
    """Wait until nobody holds the session."""
    folder = settings.home / "sessions" / the_session(settings)

    def free() -> bool:
        try:
            with hold_session(folder):
                return True
        except SessionBusy:
            return False

    await until(free)


async def test_a_session_that_was_cut_off_is_closed_with_what_it_has(
    settings: Settings, world: World
) -> None:
    world.hanging = {"forum", "blog", "news", "docs", "mirror", "archive"}
    async with served(settings) as url, Client(url) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "agentic_search", {"query": QUESTION})
                await once_reading(world)
                scope.cancel()
        await ended(settings)
        session_id = the_session(settings)
        unwritten = await client.call_tool(
            "get_session_data", {"session_id": session_id, "part": "report"}
        )
        assert unwritten.is_error
        closed = given(await client.call_tool("create_research_report", {"session_id": session_id}))
        report = given(
            await client.call_tool("get_session_data", {"session_id": session_id, "part": "report"})
        )
    assert closed["report"].startswith(f"# {QUESTION}")
    assert (report["state"], report["text"]) == ("partial", closed["report"])


@pytest.mark.full
async def test_a_client_that_closes_the_pipe_leaves_no_process(
    env: dict[str, str], world: World
) -> None:
    world.hang_everything = True
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with anyio.CancelScope() as scope:
        async with over_stdio(env) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "agentic_search", {"query": QUESTION})
            await once_reading(world)
            scope.cancel()
    await until(
        lambda: not {child.pid for child in psutil.Process().children(recursive=True)} - before
    )
