"""MCP servers with search tools, as a process on standard input and output (this file as a script)
and over HTTP on loopback.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp_types import CallToolResult, ResourceLink, TextContent

from tests.world.background import listen
from tests.world.timing import eventually

RESULTS = [
    {
        "title": "Census of Port Aldermere",
        "url": "https://news.example/census",
        "content": "48,210 inhabitants",
        "published_date": "2026-03-04",
    },
    {
        "title": "History",
        "link": "https://history.example/harbour",
        "description": "Opened in 1932.",
    },
]
MARKDOWN = """Found 2 results:

1. [Census of Port Aldermere](https://news.example/census) - 48,210 inhabitants
2. [History](https://history.example/harbour)
   Opened in 1932.
"""
LABELLED = """Title: Census of Port Aldermere
Description: 48,210 inhabitants
URL: https://news.example/census

Title: History
URL: https://history.example/harbour
Description: Opened in 1932.
"""


def structured(query: str, max_results: int = 5) -> dict[str, Any]:
    return {"query": query, "results": RESULTS[:max_results]}


def listed(q: str) -> list[dict[str, Any]]:
    return RESULTS


def as_json(search_term: str) -> str:
    return json.dumps({"web": {"results": RESULTS}})


def markdown(query: str) -> str:
    return MARKDOWN


def labelled(query: str) -> str:
    return LABELLED


def links(phrase: str) -> CallToolResult:
    return CallToolResult(
        content=[
            ResourceLink(type="resource_link", uri=r.get("url") or r["link"], name=r["title"])
            for r in RESULTS
        ]
    )


def echo(query: str, limit: int = 1) -> str:
    return (
        f"[{query}](https://echo.example/{limit}/{os.getpid()}/{os.environ.get('HARBOUR_KEY', '')})"
    )


def nothing(query: str) -> str:
    return "No results were found."


def refuses(query: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text="Error 429: rate limit exceeded.")], is_error=True
    )


def breaks(query: str) -> str:
    raise ValueError("k3y")


async def hangs(query: str) -> str:
    await asyncio.sleep(600)
    return ""


def dies(query: str) -> str:
    os._exit(3)


def counts(number: int) -> str:
    return str(number)


def server() -> MCPServer:
    """A server whose tools answer in the shapes that search tools have, and in ways that fail."""
    made = MCPServer("harbour")
    for tool in (structured, listed, breaks, hangs, dies, counts):
        made.tool()(tool)
    for tool in (as_json, markdown, labelled, links, echo, nothing, refuses):
        made.tool(structured_output=False)(tool)
    return made


@asynccontextmanager
async def over_http() -> AsyncIterator[str]:
    """The address of the server over streamable HTTP, which runs meanwhile."""
    sock = listen("127.0.0.1")
    running = uvicorn.Server(
        uvicorn.Config(
            server().streamable_http_app(),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )
    serving = asyncio.create_task(running.serve(sockets=[sock]))
    await eventually(lambda: running.started)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        await serving


def answer_noisily() -> None:
    """Answer over standard input and output by hand, with words, warnings and what is no message
    between the answers.
    """
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    known: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "harbour", "version": "1.2"},
        },
        "tools/list": {"tools": [{"name": "listed", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(RESULTS)}]},
    }
    lines = ["=== harbour 1.2 ===", "", "{'not': 'json'}", '{"level": "info"}', "[1, 2]"]
    notice = {"method": "notifications/message", "params": {"level": "info", "data": "cold"}}
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for line in sys.stdin:
        asked = json.loads(line)
        lines += [f"DEBUG {asked['method']}", json.dumps({"jsonrpc": "2.0"} | notice)]
        if "id" in asked:
            result = known.get(asked["method"])
            said = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
            lines.append(json.dumps({"jsonrpc": "2.0", "id": asked["id"]} | said))
        sys.stdout.write("\n".join(lines) + "\n")
        lines = ["warning: the cache is cold"]


def command(*ways: str) -> str:
    """The command line of the server as a process. It may be `stubborn` (not end when told to),
    `mute` (never say a word) or `noisy` (say more than its answers).
    """
    return f"{sys.executable} -m tests.tools.search.mcp_servers {' '.join(ways)}"


if __name__ == "__main__":
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "mute" in sys.argv:
        time.sleep(600)
    if "noisy" in sys.argv:
        sys.exit(answer_noisily())
    server().run("stdio")
    if "stubborn" in sys.argv:
        time.sleep(600)
