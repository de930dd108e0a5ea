"""The list of the sessions at the side of every page."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spadework.apps.web.history import history_of, view_model_of, words_of
from spadework.events import Finished, Started
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.runs import Run
from spadework.sessions.storage.files import hold_session
from tests.apps.web.prepared import READ, large, put

STARTED = Started(question="What is it?", mode="extractive", session_id="x")


@pytest.mark.parametrize(
    ("after", "state", "live"), [((), "answered", False), ((STARTED,), "running", True)]
)
async def test_a_run_that_has_told_its_result_is_over(
    tmp_path: Path, after: tuple[Started, ...], state: str, live: bool
) -> None:
    id_ = "20260304-050607-0000aa"
    result, pages = large(id_, sources=1, sections=1, sentences=1)
    put(tmp_path, result, pages)
    session: Any = SimpleNamespace(session_id=id_, question=result.question)
    run = Run(session, [STARTED, Finished(result=result), *after])
    [entry] = await history_of(server_of(tmp_path, run))
    assert (entry.state, entry.live) == (state, live)


@pytest.mark.parametrize(
    ("status", "topics", "covered", "evidence", "state"),
    [
        ("completed", 2, 2, 5, "answered"),
        ("completed", 2, 1, 5, "partly answered"),
        ("completed", 1, 0, 5, "partly answered"),
        ("completed", 1, 0, 0, "not found"),
        ("partial", 2, 1, 5, "partly answered, stopped early"),
        ("time_limited", 1, 0, 0, "not found, time limited"),
        ("failed", 1, 0, 0, "failed"),
        ("completed", 0, 0, 0, "done"),
        ("", 0, 0, 0, "not finished"),
    ],
)
async def test_what_came_of_a_session_is_told_at_its_time(
    tmp_path: Path, status: str, topics: int, covered: int, evidence: int, state: str
) -> None:
    keep_metadata(tmp_path, status, topics=topics, covered=covered, evidence=evidence)
    [entry] = await history_of(server_of(tmp_path))
    assert (entry.state, entry.live) == (state, False)
    assert entry.time == f"{READ.astimezone():%H:%M}"


async def test_a_session_that_another_process_works_on_is_said_to_run_elsewhere(
    tmp_path: Path,
) -> None:
    folder = keep_metadata(tmp_path, "")
    with hold_session(folder):
        [entry] = await history_of(server_of(tmp_path))
        picture, live = await view_model_of(server_of(tmp_path), folder.name)
    assert (entry.state, entry.live) == ("running elsewhere", False)
    assert (words_of(picture), live) == (("running elsewhere", False), False)


def keep_metadata(home: Path, status: str, **summary: int) -> Path:
    """A session of which there is the metadata alone; its folder."""
    folder = home / "sessions" / "20260304-050607-0000aa"
    folder.mkdir(parents=True)
    told = {"created_at": READ.isoformat(), "query": "What is it?", "status": status}
    (folder / METADATA).write_text(json.dumps(told | {"results_summary": summary}))
    return folder


def server_of(home: Path, run: Run | None = None) -> Any:
    """The server of a home, as its owner has it, with one run or none."""

    async def find(_: str) -> None:
        pass

    runs = SimpleNamespace(
        current=lambda: [run] if run else [], find_running=lambda _: run, find=find
    )
    return SimpleNamespace(settings=SimpleNamespace(home=home, database_url=None), runs=runs)
