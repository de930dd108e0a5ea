"""The list of the sessions at the side of every page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spadework.apps.web.history import history_of
from spadework.events import Finished, Started
from spadework.sessions.runs import Run
from tests.apps.web.prepared import large, put

STARTED = Started(question="What is it?", mode="extractive", session_id="x")


@pytest.mark.parametrize(
    ("after", "state", "live"), [((), "done", False), ((STARTED,), "running", True)]
)
async def test_a_run_that_has_told_its_result_is_done(
    tmp_path: Path, after: tuple[Started, ...], state: str, live: bool
) -> None:
    id_ = "20260304-050607-0000aa"
    result, pages = large(id_, sources=1, sections=1, sentences=1)
    put(tmp_path, result, pages)
    session: Any = SimpleNamespace(session_id=id_, question=result.question)
    run = Run(session, [STARTED, Finished(result=result), *after])
    runs = SimpleNamespace(current=lambda: [run], running=lambda _: run)
    web: Any = SimpleNamespace(
        settings=SimpleNamespace(home=tmp_path, database_url=None), runs=runs
    )
    [entry] = await history_of(web)
    assert (entry.state, entry.live) == (state, live)
