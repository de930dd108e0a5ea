"""A question that one server was asked is shown by another, while a worker runs it and after."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.apps.web.server import Server
from tests.machines.fleet import Fleet, play_cases, question
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow]


def ask(client: httpx.Client, number: int) -> httpx.Response:
    asked = {"model": "spadework", "messages": [{"role": "user", "content": question(number)}]}
    return client.post("/v1/chat/completions", json=asked, timeout=90)


def newest(client: httpx.Client) -> str:
    """The newest session in the history of a server, once it has one."""
    until = time.monotonic() + 30
    while "/s/2" not in (page := client.get("/").text):
        assert time.monotonic() < until
        time.sleep(0.1)
    return page.partition("/s/")[2].partition('"')[0]


def test_a_run_is_shown_by_a_server_that_was_not_asked(
    database: str, world: World, searx: Searx, model: Model, tmp_path: Path
) -> None:
    env = {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": database}
    play_cases(model)
    model.delay = 0.2
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = Server(env, tmp_path / "one"), Server(env, tmp_path / "two")
    with Fleet(tmp_path, env, sessions=2) as fleet, ThreadPoolExecutor() as aside:
        try:
            fleet.start(1)
            with one.client() as asked, two.client() as looking:
                answering = aside.submit(ask, asked, 1)
                session_id = newest(looking)
                with looking.stream("GET", f"/s/{session_id}/events", timeout=60) as stream:
                    told = "".join(stream.iter_text())
                assert "event: done" in told
                answer = answering.result()
                page = looking.get(f"/s/{session_id}").text
                report = looking.get(f"/s/{session_id}/report.md").text
            assert answer.status_code == 200, answer.text
            said = answer.json()["choices"][0]["message"]["content"]
            assert question(1) in page
            assert said.splitlines()[0] == report.splitlines()[0]
        finally:
            left = [server.stop() for server in (one, two)]
    assert left == [130, 130]
    assert "Traceback" not in one.log() + two.log() + fleet.logs()
