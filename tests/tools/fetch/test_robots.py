"""A robots.txt that a server fails to give closes the site, until the server gives one."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from spadework.errors import Blocked
from spadework.tools.fetch import robots
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.robots import Robots


async def test_a_server_that_fails_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch):
    async def get(url: str) -> Answer:
        asked.append(url)
        return Answer(url, statuses[min(len(asked), len(statuses)) - 1], httpx.Headers())

    asked: list[str] = []
    statuses = [503, 500, 404]
    rules, later = Robots("spadework/1", get), asyncio.get_running_loop().time() + 60
    for _ in range(2):
        with pytest.raises(
            Blocked,
            match=r"fails at tides\.example/robots\.txt, so nothing of tides\.example may be read",
        ):
            await rules.ask_leave("https://tides.example/a", later)
    assert len(asked) == 1
    now = time.monotonic()
    monkeypatch.setattr(rules, "_clock", lambda: now + robots.AGAIN_SECONDS + 1)
    with pytest.raises(Blocked):
        await rules.ask_leave("https://tides.example/a", later)
    monkeypatch.setattr(rules, "_clock", lambda: now + 3 * robots.AGAIN_SECONDS)
    await rules.ask_leave("https://tides.example/a", later)
    await rules.ask_leave("https://tides.example/b", later)
    assert len(asked) == 3
