"""The event stream: every event once and in order, whenever a watcher comes, comes back, or is
slow.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.apps.web.conftest import CLEAR, TOPICS
from tests.apps.web.server import Server
from tests.thinned import thinned
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import eventually

pytestmark = pytest.mark.process

QUESTION = "What is known about Port Aldermere?"


class Watcher:
    """One client of a stream, who keeps what it is sent, and comes back when the stream breaks
    off.
    """

    def __init__(self, client: httpx.AsyncClient, session: str) -> None:
        self._client = client
        self._url = f"/s/{session}/events"
        self.numbers: list[int] = []
        self.data: list[str] = []
        self.done = False

    async def watch(self, *, events: int | None = None) -> None:
        """Watch to the end, or `events` of them."""
        last = str(self.numbers[-1]) if self.numbers else ""
        async with self._client.stream("GET", self._url, headers={"Last-Event-ID": last}) as answer:
            async for block in _blocks(answer):
                if number := re.search(r"^id: (\d+)$", block, re.MULTILINE):
                    self.numbers.append(int(number[1]))
                    self.data.append(block)
                self.done = self.done or "event: done" in block
                if events is not None and len(self.numbers) >= events:
                    return


async def _blocks(answer: httpx.Response) -> AsyncIterator[str]:
    block: list[str] = []
    async for line in answer.aiter_lines():
        if line:
            block.append(line)
        else:
            yield "\n".join(block)
            block = []


async def ask(client: httpx.AsyncClient, question: str = QUESTION) -> str:
    """Ask without approving; the id of the session."""
    csrf = re.search(r'name="csrf" value="([^"]+)"', (await client.get("/")).text)
    assert csrf
    answer = await client.post("/ask", data={"csrf": csrf[1], "question": question, "unseen": "1"})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


def logged(home: Path, session: str) -> list[str]:
    """The types of the events in a session's log."""
    return [
        json.loads(line)["type"]
        for line in (home / "sessions" / session / "events.jsonl").read_text().splitlines()
    ]


@pytest.fixture
async def client(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=server.url, timeout=60, limits=httpx.Limits(max_connections=None)
    ) as client:
        yield client


async def test_a_watcher_from_the_start_one_that_comes_back_and_one_that_is_late_see_the_same(
    client: httpx.AsyncClient, server: Server
) -> None:
    session = await ask(client)
    steady, restless = Watcher(client, session), Watcher(client, session)

    async def come_and_go() -> None:
        while not restless.done:
            await restless.watch(events=len(restless.numbers) + 3)

    await asyncio.gather(steady.watch(), come_and_go())
    late = Watcher(client, session)
    await late.watch()
    every = list(range(1, len(logged(server.home, session)) + 1))
    assert steady.numbers == restless.numbers == late.numbers == every
    assert logged(server.home, session)[-1] == "finished"


async def test_a_reader_that_does_not_read_holds_nobody_up(
    client: httpx.AsyncClient, server: Server
) -> None:
    session = await ask(client)
    async with client.stream("GET", f"/s/{session}/events"):
        other = Watcher(client, session)
        await other.watch()
        assert other.done


@pytest.mark.parametrize("last", thinned(["99999", "-1", "x", "1e9", "٣"], 3))
async def test_a_number_that_no_event_bears_does_no_harm(
    client: httpx.AsyncClient, last: str
) -> None:
    session = await ask(client)
    watcher = Watcher(client, session)
    await watcher.watch()
    async with client.stream(
        "GET", f"/s/{session}/events", headers={"Last-Event-ID": last.encode()}
    ) as answer:
        assert answer.status_code == 200
        assert "event: done" in (await answer.aread()).decode()


@pytest.mark.full
async def test_a_browser_that_watches_many_runs_lets_its_pages_take_turns(
    client: httpx.AsyncClient, world: World
) -> None:
    world.hang_everything = True
    sessions = [await ask(client) for _ in range(6)]
    ended = await asyncio.gather(*(_until_closed(client, session) for session in sessions))
    assert sum(ended) >= 2, "streams over the number end without `done`, to be renewed"


async def _until_closed(client: httpx.AsyncClient, session: str) -> bool:
    try:
        async with asyncio.timeout(4), client.stream("GET", f"/s/{session}/events") as answer:
            return "event: done" not in (await answer.aread()).decode()
    except TimeoutError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("many", [5, pytest.param(20, marks=pytest.mark.full)])
async def test_many_pages_on_as_many_runs_get_every_event_once_and_in_order(
    server: Server, world: World, many: int
) -> None:
    world.delay = 0.1
    # As many browsers: each with cookies of its own.
    clients = [httpx.AsyncClient(base_url=server.url, timeout=100) for _ in range(many)]
    try:
        sessions = await asyncio.gather(
            *(
                ask(client, f"What is known about Port Aldermere? {n}")
                for n, client in enumerate(clients)
            )
        )
        watchers = [
            Watcher(client, session) for client, session in zip(clients, sessions, strict=True)
        ]
        async with asyncio.timeout(100):
            await asyncio.gather(*(watcher.watch() for watcher in watchers))
    finally:
        await asyncio.gather(*(client.aclose() for client in clients))
    for watcher, session in zip(watchers, sessions, strict=True):
        assert watcher.done
        assert watcher.numbers == list(range(1, len(logged(server.home, session)) + 1))
        assert f"/s/{session}/" in watcher.data[-1]


@pytest.mark.full
async def test_where_the_process_is_full_the_page_tells_the_place_in_the_queue(
    world: World, searx: Searx, model: Model, tmp_path: Path
) -> None:
    play(model, TOPICS)
    model.script("DoubtAnswer", CLEAR)
    env = {**world.env, **searx.env, **model.env, "SPADEWORK_PARALLEL_SESSIONS": "1"}
    world.hang_everything = True
    server = Server(env, tmp_path / "home")
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            await ask(client)
            await eventually(lambda: world.requests, 60)
            waiting = await ask(client)
            async with client.stream("GET", f"/s/{waiting}/events") as answer:
                async for block in _blocks(answer):
                    if "number 1 of 1 in the queue" in block:
                        break
                else:
                    raise AssertionError("the place was not told")
    finally:
        server.stop()
