"""The graph as it stands on aegra: PostgreSQL, Redis and two of its processes, driven by
langgraph-sdk.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.machines.aegra import Aegra, Redis, environment, interpreter
from tests.sessions.followed import ASKED, TOPICS
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import eventually

pytest.importorskip("tests.world.postgres")

pytestmark = [
    pytest.mark.machines,
    pytest.mark.timeout(900),  # an environment is made first
    pytest.mark.skipif(not interpreter(), reason="aegra needs Python 3.12 or newer"),
    pytest.mark.skipif(not Redis.installed(), reason="redis-server is not installed"),
]

ASK: dict[str, Any] = {"question": ASKED}
Start = Callable[[], Aegra]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("aegra") / "venv")


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    running = Redis(tmp_path_factory.mktemp("redis"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def start(
    programs: Path,
    redis: Redis,
    postgres: Any,
    _world: World,
    _searx: Searx,
    _model: Model,
    tmp_path_factory: pytest.TempPathFactory,
    home: Path,
) -> Iterator[Start]:
    """Starts one more process; all share a database and a queue."""
    folder, started = tmp_path_factory.mktemp("processes"), list[Aegra]()
    env = {
        **{name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ},
        **_world.env,
        **_searx.env,
        **_model.env,
        "HOME": str(folder),
        "SPADEWORK_HOME": str(home),
        "SPADEWORK_KNOWLEDGE": "false",
        "DATABASE_URL": postgres.database(),
        "REDIS_URL": redis.url,
        "REDIS_BROKER_ENABLED": "true",
    }

    def one_more() -> Aegra:
        started.append(Aegra(programs, env, folder / f"log-{len(started)}"))
        return started[-1]

    yield one_more
    for process in started:
        process.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def first(start: Start) -> Aegra:
    return start()


@pytest.fixture(autouse=True)
def playing(model: Model, world: World, searx: Searx, home: Path) -> None:
    shutil.rmtree(home / "plans", ignore_errors=True)
    play(model, TOPICS)


async def thread_of(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


async def test_a_run_is_streamed_to_its_report(first: Aegra) -> None:
    async with get_client(url=first.url) as client:
        thread, told = await thread_of(client), Counter[str]()
        modes: Any = ["custom", "values"]
        async for part in client.runs.stream(
            thread, "research", input=ASK, stream_mode=modes, stream_subgraphs=True
        ):
            assert part.event != "error", part.data
            if part.event.startswith("custom"):
                told[part.data["type"]] += 1
        state = (await client.threads.get_state(thread))["values"]
    assert {"planned", "searched", "read", "assessed", "finished"} <= set(told)
    assert state["result"]["mode"] == "model"
    assert state["result"]["citations"]
    assert state["report"].startswith("# ")


async def test_a_plan_waits_and_is_approved_at_another_process(first: Aegra, start: Start) -> None:
    asking: Any = {"approve": True}
    async with get_client(url=first.url) as client:
        thread = await thread_of(client)
        await client.runs.wait(thread, "research", input=ASK, context=asking)
        waiting = await client.threads.get_state(thread)
    assert waiting["next"] == ["approve"]
    planned = waiting["interrupts"][0]["value"]["plan"]["topics"]
    assert [topic["name"] for topic in planned] == list(TOPICS)
    only = list(TOPICS)[:1]
    with start() as other:
        async with get_client(url=other.url) as client:
            done: Any = await client.runs.wait(
                thread, "research", command={"resume": only}, context=asking
            )
    assert [topic["name"] for topic in done["result"]["topics"]] == only


async def test_a_run_is_cancelled_and_goes_on_from_its_checkpoint(
    first: Aegra, world: World, model: Model
) -> None:
    world.hang_everything = True
    async with get_client(url=first.url) as client:
        thread = await thread_of(client)
        run = (await client.runs.create(thread, "research", input=ASK))["run_id"]
        await eventually(lambda: world.requests, 60)
        async with asyncio.timeout(20):
            await client.runs.cancel(thread, run, wait=True)
        assert (await client.runs.get(thread, run))["status"] == "interrupted"
        stood = await client.threads.get_state(thread)
        assert stood["next"] == ["worker"] * len(TOPICS)
        world.hang_everything = False
        checkpoint: Any = stood["checkpoint"]
        done: Any = await client.runs.wait(
            thread, "research", input=None, checkpoint_id=checkpoint["checkpoint_id"]
        )
    assert done["result"]["citations"]
    assert sum(asked.schema_name == "PlanAnswer" for asked in model.requests) == 1


async def test_two_at_once_do_not_mix(first: Aegra) -> None:
    async with get_client(url=first.url) as client:

        async def ask(question: str) -> Any:
            asked = {"question": question}
            return await client.runs.wait(await thread_of(client), "research", input=asked)

        questions = (ASKED, "When was the lighthouse of Port Aldermere first lit?")
        results = [done["result"] for done in await asyncio.gather(*map(ask, questions))]
    assert [result["question"] for result in results] == list(questions)
    assert len({result["session_id"] for result in results}) == 2


async def test_a_process_that_is_killed_is_replaced_where_it_stood(
    start: Start, first: Aegra, world: World, model: Model
) -> None:
    first.stop(signal.SIGTERM)
    world.hang_everything = True
    with start() as struck:
        async with get_client(url=struck.url) as client:
            thread = await thread_of(client)
            run = (await client.runs.create(thread, "research", input=ASK))["run_id"]
            await eventually(lambda: world.requests, 60)
        struck.stop(signal.SIGKILL)
    world.hang_everything = False
    with start() as other:
        async with get_client(url=other.url) as client, asyncio.timeout(120):
            done: Any = await client.runs.join(thread, run)
    assert done["result"]["citations"]
    assert sum(asked.schema_name == "PlanAnswer" for asked in model.requests) == 1
