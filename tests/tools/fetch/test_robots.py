"""A robots.txt that a server fails to give closes the site, until the server gives one."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import httpx
import pytest

from spadework.errors import Blocked
from spadework.tools.fetch import hosts as robots
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.hosts import Robots
from spadework.tools.fetch.http_cache import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, 1_000_000)


async def test_a_server_that_fails_is_asked_again_after_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    async def get(url: str) -> Answer:
        asked.append(url)
        return Answer(url, statuses[min(len(asked), len(statuses)) - 1], httpx.Headers())

    asked: list[str] = []
    statuses = [503, 500, 404]
    rules, later = Robots("spadework/1", get, store), asyncio.get_running_loop().time() + 60
    for _ in range(2):
        with pytest.raises(
            Blocked, match=r"tides\.example/robots\.txt returned a server error, so no page"
        ):
            await rules.ask_permission("https://tides.example/a", later)
    assert len(asked) == 1
    now = time.monotonic()
    monkeypatch.setattr(rules, "_clock", lambda: now + robots.AGAIN_SECONDS + 1)
    with pytest.raises(Blocked):
        await rules.ask_permission("https://tides.example/a", later)
    monkeypatch.setattr(rules, "_clock", lambda: now + 3 * robots.AGAIN_SECONDS)
    await rules.ask_permission("https://tides.example/a", later)
    await rules.ask_permission("https://tides.example/b", later)
    assert len(asked) == 3


async def test_the_longest_rules_are_read_beside_the_event_loop(store: Store):
    async def get(url: str) -> Answer:
        turns[:] = [time.monotonic()]
        return Answer(url, 200, httpx.Headers(), b"User-agent: *\nDisallow: /a*b\n" * 10_000)

    async def take_turns() -> None:
        while True:
            turns.append(time.monotonic())
            await asyncio.sleep(0.001)

    turns: list[float] = []
    others = asyncio.create_task(take_turns())
    later = asyncio.get_running_loop().time() + 60
    rules, shares = Robots("spadework/1", get, store), []
    for host in ("a", "b", "c"):  # a machine may stand still once, but not each time
        await rules.ask_permission(f"https://{host}.example/tides", later)
        turns.append(time.monotonic())
        longest = max(then - now for now, then in itertools.pairwise(turns))
        shares.append(longest / (turns[-1] - turns[0]))
    others.cancel()
    assert min(shares) < 0.5


@pytest.mark.parametrize(("status", "allowed"), [(200, False), (404, True)])
async def test_what_a_site_has_answered_is_kept_for_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch, status: int, allowed: bool
):
    async def get(url: str) -> Answer:
        asked.append(url)
        return Answer(url, status, httpx.Headers(), b"User-agent: *\nDisallow: /tides")

    async def may(path: str) -> bool:
        try:
            await Robots("spadework/1", get, store).ask_permission(
                f"https://a.example{path}", later
            )
        except Blocked:
            return False
        return True

    asked: list[str] = []
    later = asyncio.get_running_loop().time() + 60
    assert await may("/ferries")
    assert await may("/tides") is allowed
    assert len(asked) == 1
    now = time.time()
    monkeypatch.setattr(robots.time, "time", lambda: now + robots.KEPT_SECONDS + 1)
    assert await may("/tides") is allowed
    assert len(asked) == 2
