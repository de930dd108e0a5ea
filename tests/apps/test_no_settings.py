"""Every way in, started with no setting at all where the network cannot be reached, answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from tests.apps.mcp.serving import given, over_stdio
from tests.apps.web.server import Server
from tests.world.dev import ROOT, serving

QUESTION = "What does uvloop replace?"
#: A sentence of the documentation that is installed with the package.
SENTENCE = "drop-in replacement of the built-in asyncio event loop"
CODE = "import asyncio, sys, spadework; print(asyncio.run(spadework.research(sys.argv[1])).report)"

pytestmark = [
    pytest.mark.process,
    pytest.mark.full,
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("bare"),
]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a new user without a network; the index is made once for all tests."""
    offline = ROOT / "tests" / "world" / "offline"
    home = tmp_path_factory.mktemp("user")
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(offline)}


@pytest.fixture(autouse=True)
def without_settings(bare: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ.keys() - bare.keys():
        monkeypatch.delenv(name)
    for name, value in bare.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server({}, tmp_path / "server", set_home=False)
    yield server
    server.stop()


def run(*command: str, said: str = "") -> str:
    """Standard output of Python with these arguments."""
    done = subprocess.run(
        [sys.executable, *command], input=said, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ask() -> None:
    assert SENTENCE in run("-m", "spadework", "ask", QUESTION)


def test_chat() -> None:
    assert SENTENCE in run("-m", "spadework", "chat", said=f"{QUESTION}\n")


def test_code() -> None:
    assert SENTENCE in run("-c", CODE, QUESTION)


async def test_mcp() -> None:
    async with over_stdio() as client:
        answer = await client.call_tool("agentic_search", {"query": QUESTION})
    assert SENTENCE in str(given(answer))


def test_the_web_page(server: Server) -> None:
    with server.client() as client:
        csrf = client.get("/").text.partition('name="csrf" value="')[2].partition('"')[0]
        sent = {"csrf": csrf, "question": QUESTION, "unseen": "1"}
        session = client.post("/ask", data=sent).headers["location"]
        end = time.monotonic() + 500
        while SENTENCE not in (page := client.get(session).text):
            assert time.monotonic() < end, page
            time.sleep(0.5)


def test_v1(server: Server) -> None:
    question = {"messages": [{"role": "user", "content": QUESTION}]}
    asked: dict[str, Any] = question | {"model": "spadework", "stream": False}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=asked, timeout=500).json()
    assert SENTENCE in answer["choices"][0]["message"]["content"]


async def test_langgraph_dev(bare: dict[str, str], tmp_path: Path) -> None:
    with serving(bare, tmp_path / "log") as url:
        async with get_client(url=url, timeout=500) as client:
            values = await client.runs.wait(None, "research", input={"question": QUESTION})
    assert SENTENCE in values["report"]
