"""A server with two users, of whom one has asked something that only she knows of."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from mcp import Client
from pydantic import SecretStr

from spadework.sessions.users import USERS, Tokens
from tests.apps.web.server import Server

#: A word that stands only in what Anna asked, gave along and read.
WORD = "zyxomma"
QUESTION = f"How many petals does the {WORD} of Port Aldermere have?"
PAGE = (
    f"<html><title>The {WORD}</title><body><main><h1>The {WORD}</h1><p>The {WORD} of Port Aldermere"
    f" has 17 petals, as the gardeners counted in 1931. The {WORD} grows on the north wall of the"
    " harbour and flowers in May.</p></main></body></html>"
)


@dataclass
class Two:
    """The server, the tokens of its users, and what Anna has: a session that is done, one that
    runs, and the address of a page that she has read.
    """

    server: Server
    tokens: dict[str, str]
    done: str = ""
    runs: str = ""
    page: str = ""
    database: SecretStr | None = None

    @property
    def kept(self) -> Tokens:
        return Tokens(self.server.home, self.database)

    @property
    def home(self) -> Path:
        return self.server.home / USERS / "anna"

    def client(self, user: str, **headers: str) -> httpx.AsyncClient:
        own = {"Authorization": f"Bearer {self.tokens[user]}"} if user else {}
        return httpx.AsyncClient(base_url=self.server.url, headers={**own, **headers}, timeout=60)

    def hashes(self) -> list[str]:
        return [path.stem for path in (self.home / "sessions" / self.done / "pages").glob("*.md")]


async def csrf_of(client: httpx.AsyncClient) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/")).text)
    assert found
    return found[1]


async def ask(client: httpx.AsyncClient, question: str, **more: Any) -> httpx.Response:
    files = more.pop("files", None)
    data = {
        "csrf": await csrf_of(client),
        "question": question,
        "unseen": "1",
        "minutes": "1",
        **more,
    }
    return await client.post("/ask", data=data, files=files)


async def asked(client: httpx.AsyncClient, question: str, **more: Any) -> str:
    answer = await ask(client, question, **more)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def report(client: httpx.AsyncClient, session: str) -> httpx.Response:
    """The result of a session, waited for by its events."""
    async with asyncio.timeout(60), client.stream("GET", f"/s/{session}/events") as events:
        async for _ in events.aiter_lines():
            pass
    return await client.get(f"/s/{session}/report.json")


async def call(client: Client, tool: str, **arguments: Any) -> str:
    return str(await client.call_tool(tool, arguments))
