"""Names are looked up where nothing else waits, once however many ask, and never for too long."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from spadework.tools.web import connections
from spadework.tools.web.connections import Resolver
from tests.tools.search.namespace import run
from tests.world.background import Background
from tests.world.timing import eventually


class Silent:
    """A look-up that does not come back before it is let go, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.let_go = threading.Event()

    def __call__(self, host: str, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked.append(host)
        self.let_go.wait(60)
        return socket.getaddrinfo("127.0.0.1", *args, **kwargs)


@pytest.fixture
def silent() -> Iterator[Silent]:
    look_up = Silent()
    yield look_up
    look_up.let_go.set()


async def test_the_answer_is_the_systems_own():
    resolver = Resolver()
    for host in ("localhost", "127.1", "::1"):
        asked = {"type": socket.SOCK_STREAM, "family": socket.AF_UNSPEC}
        assert await resolver.addresses(host, 80, **asked) == socket.getaddrinfo(host, 80, **asked)
    with pytest.raises(socket.gaierror):
        await resolver.addresses("nobody.invalid", 80)


@pytest.mark.timed
async def test_a_silent_name_server_is_waited_for_once(silent: Silent):
    resolver = Resolver(silent, seconds=0.3)
    for expected in (0.3, 0.0):  # whoever comes after that is told at once
        started = time.monotonic()
        with pytest.raises(socket.gaierror, match=r"for silent\.example within 0\.3 s") as told:
            await resolver.addresses("silent.example", 80)
        assert told.value.errno == socket.EAI_AGAIN
        assert expected <= time.monotonic() - started < expected + 0.25
    assert silent.asked == ["silent.example"]
    silent.let_go.set()
    await eventually(lambda: "silent.example" not in resolver.under_way)
    assert await resolver.addresses("silent.example", 80)


async def test_a_name_that_many_want_is_looked_up_once(silent: Silent):
    resolver = Resolver(silent)
    asking = [asyncio.create_task(resolver.addresses("a.example", 80)) for _ in range(20)]
    await eventually(lambda: bool(silent.asked))
    asking[0].cancel()  # no reason for the others to go without
    await asyncio.wait({asking[0]})
    silent.let_go.set()
    found = await asyncio.gather(*asking[1:])
    assert all(addresses == found[0] for addresses in found)
    assert silent.asked == ["a.example"]


async def test_many_silent_names_take_few_threads_and_leave_nothing_to_do(silent: Silent):
    resolver, before = Resolver(silent, seconds=0.2, most=3), threading.active_count()
    asking = [resolver.addresses(f"{n}.example", 80) for n in range(50)]
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(error, socket.gaierror) for error in found)
    assert threading.active_count() <= before + 3
    silent.let_go.set()
    await eventually(lambda: not resolver.under_way)
    assert len(silent.asked) == 3


async def test_two_event_loops_share_a_look_up(silent: Silent):
    resolver, found = Resolver(silent), []
    other = threading.Thread(
        target=lambda: found.append(asyncio.run(resolver.addresses("a.example", 80)))
    )
    other.start()
    here = asyncio.create_task(resolver.addresses("a.example", 80))
    await asyncio.sleep(0.05)
    silent.let_go.set()
    await here
    await asyncio.to_thread(other.join)
    assert found == [here.result()]
    assert silent.asked == ["a.example"]


async def test_what_a_loop_looks_up_leaves_its_threads_alone(
    silent: Silent, monkeypatch: pytest.MonkeyPatch
):
    """Also what libraries look up that know nothing of us."""
    monkeypatch.setattr(connections, "RESOLVER", Resolver(silent))
    connections.install_resolver()
    connections.install_resolver()
    async with httpx.AsyncClient(timeout=60) as client:
        asking = [
            asyncio.create_task(client.get(f"http://{n}.example/"))
            for n in range(os.cpu_count() * 2 + 8)
        ]
        await eventually(lambda: len(silent.asked) == len(asking))
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(str, 1) == "1"
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def test_a_proxy_is_still_used_and_its_name_looked_up(
    background: Background, monkeypatch: pytest.MonkeyPatch
):
    asked: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://localhost:{port}")
    connections.install_resolver()
    async with server, httpx.AsyncClient() as client:
        assert (await client.get("http://far.example/page")).text == "ok"
    assert asked == [b"GET http://far.example/page HTTP/1.1\r\n"]


@pytest.mark.process
async def test_a_loop_of_another_make_is_taken_over_too(silent: Silent):
    uvloop = pytest.importorskip("uvloop")
    code = (
        "import asyncio, uvloop\nfrom spadework.tools.web import connections as names\n"
        "async def main():\n"
        "    names.install_resolver()\n"
        "    loop = asyncio.get_running_loop()\n"
        "    names.RESOLVER = names.Resolver(lambda host, *a, **k: [host])\n"
        "    print(await loop.getaddrinfo('a.example', 80))\n"
        "uvloop.run(main())"
    )
    assert uvloop
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['a.example']\n"


_LOOKED_UP = """
import asyncio, socket
from spadework.tools.web.connections import Resolver
async def main():
    for host in {hosts}:
        found = await Resolver().addresses(host, 80, type=socket.SOCK_STREAM)
        print([entry[4][0] for entry in found])
asyncio.run(main())
"""


def test_the_hosts_of_the_system_count(tmp_path: Path):
    """As in a container, which knows the others by a file."""
    hosts = "127.0.0.1 localhost\n10.9.9.9 searx searx.internal\n"
    said = run(
        _LOOKED_UP.format(hosts=["searx", "searx.internal"]), {"/etc/hosts": hosts}, tmp_path
    )
    assert said == "['10.9.9.9']\n['10.9.9.9']"


@pytest.mark.timed
def test_a_silent_name_server_does_not_hold_up_the_end_of_the_process(tmp_path: Path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        with contextlib.suppress(PermissionError):  # then run() skips the test
            server.bind(("127.0.7.54", 53))
        code = (
            "import asyncio, socket\nfrom spadework.tools.web.connections import Resolver\n"
            "async def main():\n"
            "    asked = [Resolver(seconds=0.3).addresses(f'{n}.example', 80) for n in range(40)]\n"
            "    found = await asyncio.gather(*asked, return_exceptions=True)\n"
            "    print({type(error).__name__ for error in found})\n"
            "asyncio.run(main())"
        )
        started = time.monotonic()
        said = run(
            code,
            {"/etc/resolv.conf": "nameserver 127.0.7.54\noptions timeout:20 attempts:3\n"},
            tmp_path,
        )
    assert said == "{'gaierror'}"
    assert time.monotonic() - started < 10
