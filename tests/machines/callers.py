"""Processes that call one endpoint again and again, each for some sessions, with a place that all
of them share; and the endpoint, which counts who is there.

python -m tests.machines.callers URL MOST TASKS OWNER/SESSION …
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from typing import Self

import httpx
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from spadework.machines.database import opened
from spadework.machines.rooms import Whose
from spadework.tools.web.fair_queue import SHARED, far_place
from tests.world.background import Background, listen

#: Longest wait for something to happen, in seconds.
PATIENCE = 60.0


class Counted:
    """The endpoint. `came` are the parties that called it, in their order; `most` is how many were
    there at once. It answers after `delay` seconds.
    """

    def __init__(self, background: Background) -> None:
        sock = listen("127.0.0.1")
        self.url = "http://{}:{}".format(*sock.getsockname())
        self.delay = 0.02
        self.came: list[str] = []
        self.moments: list[float] = []
        self.inside, self.most = 0, 0
        background.serve(self, [sock])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.came.append(Request(scope).url.path.strip("/"))
        self.moments.append(time.monotonic())
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.inside -= 1
        await Response("ok")(scope, receive, send)

    def until(self, calls: int) -> Counter[str]:
        """Wait for so many calls; how many of each party there were."""
        end = time.monotonic() + PATIENCE
        while len(self.came) < calls:
            assert time.monotonic() < end, Counter(self.came)
            time.sleep(0.01)
        return Counter(self.came[:calls])


class Callers:
    """A process that calls for some parties, so many calls of each waiting at a time."""

    def __init__(self, database: str, url: str, most: int, tasks: int, *parties: str) -> None:
        command = [sys.executable, "-m", __name__, url, str(most), str(tasks), *parties]
        env = os.environ | {"SPADEWORK_DATABASE_URL": database}
        self.process = subprocess.Popen(command, env=env)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals) -> None:
        """End it in some way."""
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


async def _call_on(client: httpx.AsyncClient, url: str, party: str, most: int) -> None:
    while True:
        async with far_place("the endpoint", party, most):
            await client.get(f"{url}/{party}")


async def _main(url: str, most: int, tasks: int, parties: list[str]) -> None:
    address = SecretStr(os.environ["SPADEWORK_DATABASE_URL"])
    async with opened(address) as database, httpx.AsyncClient(timeout=PATIENCE) as client:
        calling = []
        for party in parties:
            SHARED.set(partial(database.rooms.place, Whose(*party.split("/"))))
            calls = (_call_on(client, url, party, most) for _ in range(tasks))
            calling += [asyncio.create_task(call) for call in calls]
        await asyncio.gather(*calling)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
