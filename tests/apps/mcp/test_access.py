"""Who may speak to the HTTP server: its own names and pages, and beyond this machine only those who
bring the token.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import httpx
import pytest
from mcp import Client

from spadework.apps.mcp.http import mcp_routes
from spadework.apps.web.app import build_app as build_page
from spadework.settings import Settings
from tests.apps.mcp.serving import TOOLS, served, with_token
from tests.apps.mcp.test_versions import HEADERS, opening

pytestmark = pytest.mark.process

HELLO = opening("2025-06-18")[0]


async def answered(url: str, **headers: str) -> int:
    async with httpx.AsyncClient(headers=HEADERS | headers, timeout=30) as client:
        return (await client.post(url, json=HELLO)).status_code


async def test_another_name_or_another_page_is_refused() -> None:
    async with served(Settings.load(search="library")) as url:
        assert await answered(url) == 200
        assert await answered(url, Host="evil.example:8051") == 421
        assert await answered(url, Origin="https://evil.example") == 403


async def test_beyond_this_machine_a_token_is_asked() -> None:
    settings = Settings.load(search="library", token="right-token")
    async with served(settings, host="0.0.0.0") as url:
        assert await answered(url) == 401
        assert await answered(url, Authorization="Bearer wrong") == 401
        async with with_token(url, "right-token") as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS


async def test_a_token_that_is_set_is_asked_on_this_machine_too() -> None:
    async with served(Settings.load(search="library", token="right-token")) as url:
        assert await answered(url) == 401
        assert await answered(url, Authorization="Bearer right-token") == 200


async def test_a_token_is_made_beyond_this_machine_if_none_is_set() -> None:
    settings = Settings.load(search="library")
    async with served(settings, host="0.0.0.0") as url:
        assert await answered(url) == 401
        token = (settings.home / ".serve-token").read_text()
        assert await answered(url, Authorization=f"Bearer {token}") == 200
        async with with_token(url, token) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    # An empty file, of a disk that was full, is no token that opens.
    (settings.home / ".serve-token").write_text("")
    async with served(settings, host="0.0.0.0") as url:
        assert await answered(url) == 401
        assert await answered(url, Authorization="Bearer") == 401


async def test_the_web_server_has_it_beside_the_page() -> None:
    settings = Settings.load(search="library")
    mounted = mcp_routes(settings)
    app = build_page(settings, routes=mounted.routes, lifespans=[mounted.lifespan])
    async with (
        served(settings, app=app) as url,
        Client(url) as client,
        httpx.AsyncClient() as browser,
    ):
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        assert "<html" in (await browser.get(url.removesuffix("/mcp") + "/")).text
        assert await answered(url, Origin="https://evil.example") == 403


async def test_too_much_at_once_and_other_methods_are_refused() -> None:
    async with (
        served(Settings.load(search="library")) as url,
        httpx.AsyncClient(headers=HEADERS, timeout=30) as client,
    ):
        assert (
            await client.post(url, content=b'{"a":"' + b"x" * 5_000_000 + b'"}')
        ).status_code == 413
        assert (await client.post(url, content=b"no json")).status_code == 400
        assert (await client.put(url, json=HELLO)).status_code in (400, 405)


def test_the_command_serves_until_it_is_interrupted(tmp_path: object) -> None:
    command = [
        sys.executable,
        "-m",
        "spadework",
        "mcp",
        "--http",
        "--port",
        "0",
        "--search",
        "library",
    ]
    with subprocess.Popen(
        command, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr
            url = process.stderr.readline().split()[-1]
            assert url.startswith("http://127.0.0.1:")
            assert httpx.post(url, json=HELLO, headers=HEADERS, timeout=30).status_code == 200
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert out == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "99999"], "port must be 0 to 65535, not 99999"),
        pytest.param(
            ["--host", "203.0.113.7"], "cannot listen on 203.0.113.7", marks=pytest.mark.full
        ),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_one_sentence(
    options: list[str], words: str
) -> None:
    command = [sys.executable, "-m", "spadework", "mcp", "--http", *options]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
