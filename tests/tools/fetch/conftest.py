"""What the tests of fetching share: a client of the test world, and a look at the sockets of this
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import psutil
import pytest

from spadework.settings import Settings
from spadework.tools.fetch.client import Web
from tests.world.sites import SITES, World


async def until(happened: Callable[[], bool], *, seconds: float = 5) -> None:
    """Return as soon as something has happened in another thread."""
    async with asyncio.timeout(seconds):
        while not happened():  # noqa: ASYNC110 - the other thread knows nothing of this loop's events
            await asyncio.sleep(0.005)


@pytest.fixture
def settings(world: World) -> Settings:
    return Settings(allow_hosts=world.hosts)


@pytest.fixture
async def web(settings: Settings) -> AsyncIterator[Web]:
    async with Web(settings) as opened:
        yield opened


@pytest.fixture
def sockets() -> Callable[[], int]:
    """Counts the connections that this process has open to the test world, as a client."""

    def count() -> int:
        connections = psutil.Process().net_connections("tcp")
        return sum(
            connection.status == psutil.CONN_ESTABLISHED and connection.raddr.ip in SITES.values()
            for connection in connections
            if connection.raddr
        )

    return count
