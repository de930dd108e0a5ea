"""`langgraph dev` with a model, in a home in which nothing has been written yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_client

from tests.world.brain import play
from tests.world.dev import serving
from tests.world.model import Model

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.xdist_group("server"),
]


@pytest.fixture
def server(model: Model, tmp_path: Path) -> Iterator[str]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text("# Quillon\n\nThe Quillon is a wind-up radio.\n")
    env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    env |= {
        **model.env,
        "HOME": str(tmp_path),
        "SPADEWORK_LIBRARY": str(tmp_path / "notes"),
        "SPADEWORK_SEARCH": "library",
        "SPADEWORK_ITERATIONS": "1",
    }
    with serving(env, tmp_path / "log") as url:
        yield url


async def test_a_model_answers_and_nothing_blocks_the_event_loop(
    server: str, model: Model, tmp_path: Path
) -> None:
    play(model, {"The Quillon": "What is the Quillon?"})
    async with get_client(url=server) as client:
        values = await client.runs.wait(
            None, "research", input={"question": "What is the Quillon?"}
        )
    log = (tmp_path / "log").read_text()
    assert "Blocking" not in log, log[-3000:]
    assert "wind-up radio" in values["report"]
    assert (values["result"]["mode"], values["result"]["problems"]) == ("model", [])
    assert list((tmp_path / ".cache" / "spadework" / "tiktoken").iterdir())
