"""The proxy in front of the browser: what it takes for a request, what it passes on, and for
whom.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator

import pytest
from hypothesis import example, given, strategies as st

from spadework.errors import NotAllowed
from spadework.tools.fetch.browser.proxy import (
    Permission,
    Proxy,
    Unfit,
    answer_head,
    parse_request,
    tracker,
)
from spadework.tools.fetch.guard import resolve
from tests.tools.fetch.browsing import Trap
from tests.tools.fetch.conftest import until
from tests.world.sites import SITES, World


@pytest.fixture
async def leave(world: World) -> Permission:
    made = Permission(resolve, world.hosts, 1_000_000)
    made.begin(SITES["odd"])
    return made


@pytest.fixture
async def address(leave: Permission) -> AsyncIterator[str]:
    proxy = Proxy()
    proxy.admit(leave)
    yield await proxy.open()
    await proxy.aclose()


async def said(address: str, text: str, leave: Permission | None = None) -> str:
    """What the proxy answers to a request with this head (and body)."""
    if leave:
        token = base64.b64encode(f"{leave.user}:{leave.password}".encode()).decode()
        text = text.replace("\r\n", f"\r\nProxy-Authorization: Basic {token}\r\n", 1)
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text.encode())
    async with asyncio.timeout(5):
        answer = await reader.read(1_000_000)
        while more := await reader.read(1_000_000):
            answer += more
    writer.close()
    return answer.decode("latin-1")


async def test_a_request_is_passed_on_without_what_is_between_neighbours(
    world: World, address: str, leave: Permission
):
    url = world.url("odd", "/plain?a=1")
    head = (
        f"GET {url} HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection:"
        " keep-alive\r\nProxy-Connection: keep-alive\r\nX-Kept: 1\r\n\r\n"
    )
    answer = await said(address, head, leave)
    assert answer.startswith("HTTP/1.1 200 OK")
    assert "Connection: close" in answer
    assert "41 metres tall" in answer
    [asked] = world.asked("odd", "/plain")
    assert asked.query == "a=1"
    assert asked.headers["x-kept"] == "1"
    assert not {"proxy-authorization", "proxy-connection", "upgrade"} & set(asked.headers)
    assert asked.headers["connection"] == "close"


async def test_a_body_is_passed_on_and_what_comes_behind_it_is_not(
    world: World, address: str, leave: Permission
):
    head = f"POST {world.url('odd', '/plain')} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    head += f"GET {world.url('odd', '/kept')} HTTP/1.1\r\n\r\n"
    await said(address, head, leave)
    assert [record.path for record in world.asked("odd")] in ([], ["/plain"])
    assert all(record.body in (b"", b"abc") for record in world.asked("odd"))


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET ftp://127.0.1.8/ HTTP/1.1\r\n\r\n", 403),
        ("GET file:///etc/passwd HTTP/1.1\r\n\r\n", 403),
        ("GET / HTTP/1.1\r\nHost: 127.0.1.8\r\n\r\n", 403),
        ("GET http://user@127.0.1.8/ HTTP/1.1\r\n\r\n", 403),
        ("CONNECT 127.0.2.1:80 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT 127.0.2.1:0 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", 403),
        ("CONNECT 127.0.1.8:9 HTTP/1.1\r\n\r\n", 502),
        ("GET http://no-such-name.invalid/ HTTP/1.1\r\n\r\n", 502),
        ("GET http://www.google-analytics.com/collect HTTP/1.1\r\n\r\n", 403),
        ("garbage\r\n\r\n", 400),
        ("POST http://127.0.1.8/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST http://127.0.1.8/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ],
)
async def test_what_may_not_be_asked_for_is_refused(
    world: World, address: str, leave: Permission, head, status
):
    assert (await said(address, head, leave)).startswith(f"HTTP/1.1 {status} ")


async def test_who_has_no_leave_gets_nothing(world: World, address: str, leave: Permission):
    for head in (
        "GET http://127.0.2.1/ HTTP/1.1\r\n\r\n",
        f"CONNECT {SITES['odd']}:80 HTTP/1.1\r\n\r\n",
    ):
        assert (await said(address, head)).startswith("HTTP/1.1 407 ")
    stranger = Permission(resolve, (), 1_000)
    assert (await said(address, "CONNECT a.example:80 HTTP/1.1\r\n\r\n", stranger)).startswith(
        "HTTP/1.1 407 "
    )
    stranger.user = leave.user
    assert (await said(address, "CONNECT a.example:80 HTTP/1.1\r\n\r\n", stranger)).startswith(
        "HTTP/1.1 407 "
    )
    assert not leave.refused


async def test_a_page_of_strangers_does_not_reach_the_hosts_one_owns(
    world: World, leave: Permission
):
    trap = Trap(SITES["mirror"])
    try:
        leave.begin("stranger.example")
        leave.note("stranger.example", "93.184.215.14")
        with pytest.raises(NotAllowed, match="not a public address"):
            await leave.connect(trap.host, trap.port)
        leave.begin("wiki.example")
        with pytest.raises(NotAllowed, match="not a public address"):
            await leave.connect(trap.host, trap.port)
        leave.note("wiki.example", SITES["odd"])
        await (await leave.connect(trap.host, trap.port)).aclose()
        await until(lambda: len(trap.came) == 1)
    finally:
        trap.close()


async def test_a_page_that_has_had_its_share_gets_no_more(
    world: World, address: str, leave: Permission
):
    answer = await said(address, f"GET {world.url('odd', '/endless')} HTTP/1.1\r\n\r\n", leave)
    assert 500_000 < len(answer) <= 1_000_000
    assert (
        await said(address, f"GET {world.url('odd', '/plain')} HTTP/1.1\r\n\r\n", leave)
    ).startswith("HTTP/1.1 403 ")
    leave.begin(SITES["odd"])
    assert "41 metres" in await said(
        address, f"GET {world.url('odd', '/plain')} HTTP/1.1\r\n\r\n", leave
    )


def test_a_server_cannot_speak_for_the_proxy():
    head = (
        b"HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=x\r\n folded\r\nX-A: 1\r\n  folded"
        b" too\r\nKeep-Alive: 5\r\n\r\n"
    )
    assert (
        answer_head(head)
        == b"HTTP/1.1 403 Forbidden\r\nX-A: 1\r\n  folded too\r\nConnection: close\r\n\r\n"
    )


def test_trackers_are_known_with_all_below_them():
    assert tracker("doubleclick.net")
    assert tracker("stats.g.doubleclick.net")
    assert not tracker("notdoubleclick.net")
    assert not tracker("net")


@given(
    head=st.binary(),
    first=st.sampled_from(
        [b"", b"GET http://", b"CONNECT ", b"GET http://a.example/ HTTP/1.1\r\n"]
    ),
)
@example(head=b"[ HTTP/1.1", first=b"GET http://")
@example(head=b"Proxy-Authorization: Basic \xff", first=b"GET http://a.example/ HTTP/1.1\r\n")
def test_a_head_is_a_request_or_is_none(head, first):
    try:
        request = parse_request(first + head + b"\r\n\r\n")
    except (Unfit, NotAllowed):
        return
    assert request.host
    assert b"\r\n\r\n" in request.onward()
