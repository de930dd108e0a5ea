"""Real servers for the tests of the MCP door: over HTTP in the loop of the test, over standard
input and output in a process.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.types import ASGIApp

from spadework.apps.mcp.http import build_app
from spadework.apps.web.security import Access
from spadework.settings import Settings
from spadework.tools.text.tokens import count
from tests.world.background import listen

TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}
QUESTION = "What is known about Port Aldermere?"
TOOLS = {
    "agentic_search",
    "intelligent_research_with_advanced_scraping",
    "serp_search",
    "advanced_scrape_url",
    "create_research_report",
    "get_session_data",
}


async def until(true: Callable[[], object], seconds: float = 20) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(seconds):
        while True:
            if true():
                return
            await asyncio.sleep(0.02)


@asynccontextmanager
async def served(
    settings: Settings, host: str = "127.0.0.1", app: ASGIApp | None = None
) -> AsyncIterator[str]:
    """The address of a server that runs meanwhile; `host` is what it believes to listen on, `app`
    what it serves instead of MCP alone.
    """
    sock = listen("127.0.0.1")
    server = uvicorn.Server(
        uvicorn.Config(
            app or build_app(settings, Access.of(settings, host)),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=3,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def over_http(settings: Settings, mode: str = "auto") -> AsyncIterator[Client]:
    """The official client, connected over HTTP."""
    async with served(settings) as url, Client(url, mode=mode) as client:
        yield client


def command(env: dict[str, str] | None = None, *options: str) -> StdioServerParameters:
    """How a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "spadework", "mcp", *options],
        env={**os.environ, **(env or {})},
    )


@asynccontextmanager
async def over_stdio(
    env: dict[str, str] | None = None, mode: str = "auto"
) -> AsyncIterator[Client]:
    """The official client, connected to a process of its own; what the process says on standard
    error is dropped.
    """
    with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230, PTH123
        async with Client(stdio_client(command(env), errlog=nowhere), mode=mode) as client:
            yield client


@asynccontextmanager
async def with_token(url: str, token: str) -> AsyncIterator[Client]:
    """A client that sends a token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def text(result: CallToolResult) -> str:
    """The text of an answer."""
    [content] = result.content
    assert content.type == "text"
    return content.text


def given(result: CallToolResult) -> dict[str, Any]:
    """The structured content of an answer that is no error."""
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    return result.structured_content


def tokens(result: CallToolResult) -> int:
    """Tokens of an answer as a model would see it: text and structured content."""
    return count(text(result)) + count(
        json.dumps(result.structured_content or {}, ensure_ascii=False, separators=(",", ":"))
    )
