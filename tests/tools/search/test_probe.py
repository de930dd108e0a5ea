"""Whether a host can be reached is known in time, whatever the network does."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from pathlib import Path

import pytest
import uvloop

from spadework.tools.search.provider_choice import reachable
from tests.tools.search.namespace import run
from tests.world.timing import eventually


async def timed(port: int, host: str = "127.0.0.1", seconds: float = 0.5) -> tuple[bool, float]:
    before = time.monotonic()
    return await reachable(host, port, seconds=seconds), time.monotonic() - before


async def test_a_host_that_listens_is_reachable():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert (await timed(server.getsockname()[1]))[0]


@pytest.mark.timed
async def test_a_closed_port_is_known_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    reached, seconds = await timed(port)
    assert not reached
    assert seconds < 0.5


def test_a_host_is_reachable_under_uvloop_too():
    with socket.create_server(("127.0.0.1", 0)) as server:
        asking = timed(server.getsockname()[1])
        assert uvloop.run(asking)[0]


async def test_a_name_that_does_not_exist_is_not_reachable():
    assert not (await timed(443, "nobody.invalid"))[0]
    assert not (await timed(443, "x" * 300 + "..org"))[0]


@pytest.mark.timed
async def test_where_packets_vanish_the_deadline_is_kept_and_the_loop_goes_on():
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as server,
        socket.socket() as first,
        socket.socket() as second,
    ):
        for filler in (first, second):  # a full queue of connections answers no more
            filler.setblocking(False)
            filler.connect_ex(server.getsockname())
        ticking = asyncio.create_task(tick())
        reached, seconds = await timed(server.getsockname()[1])
        ticking.cancel()
    assert not reached
    assert seconds < 1
    assert ticks > 10
    await eventually(
        lambda: not [thread for thread in threading.enumerate() if thread.name.startswith("probe")]
    )


@pytest.mark.timed
def test_silent_name_servers_hold_up_neither_the_answer_nor_the_end_of_the_process(tmp_path: Path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        with contextlib.suppress(PermissionError):  # then run() skips the test
            silent.bind(("127.0.7.53", 53))
        where = "spadework.tools.search.provider_choice"
        code = f"import asyncio\nfrom {where} import reachable\n"
        code += "print(asyncio.run(reachable('example.org', 443, seconds=0.3)))"
        before = time.monotonic()
        said = run(
            code,
            {"/etc/resolv.conf": "nameserver 127.0.7.53\noptions timeout:20 attempts:3\n"},
            tmp_path,
        )
    assert said == "False"
    assert time.monotonic() - before < 10
