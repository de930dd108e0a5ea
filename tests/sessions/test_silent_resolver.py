"""Where no name server answers, a run ends in time with its report, and the process with it."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from pathlib import Path

import pytest

from tests.tools.search.namespace import run

SECONDS = 12
RESEARCH = f"""
import json, time
from spadework import Budget, Settings, research_sync
settings = Settings.load(
    search="searxng", searxng_url="http://searx.example", model="openai:m", openai_api_key="a-key",
    openai_base_url="http://model.example/v1", qdrant_url="http://qdrant.example", knowledge=True,
)
from spadework.sessions.session import Session  # what takes long to load is no fault of the run's
import langchain_openai, langgraph.graph, qdrant_client.http.models
began = time.monotonic()
result = research_sync("What is a lighthouse?", settings, Budget(minutes={SECONDS} / 60))
print(json.dumps([time.monotonic() - began, result.status, result.report, result.session_id]))
print(json.dumps(time.time()))
"""


@pytest.mark.timed
def test_a_run_ends_in_time_with_a_report(tmp_path: Path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        with contextlib.suppress(PermissionError):  # then run() skips the test
            server.bind(("127.0.7.56", 53))
        said = run(
            RESEARCH,
            {"/etc/resolv.conf": "nameserver 127.0.7.56\noptions timeout:30 attempts:3\n"},
            tmp_path,
        )
        ended = time.time()
    (seconds, status, report, session), printed = map(json.loads, said.splitlines())
    assert seconds < SECONDS + 2
    assert status in ("failed", "time_limited")  # no search was answered
    assert "openai:m did not answer in time" in report or "cannot be reached" in report
    assert "searxng" in report and "Qdrant at qdrant.example" in report
    folder = tmp_path / "home" / "sessions" / session
    [written] = folder.glob("research_report_*.md")
    assert written.read_text("utf-8") == report
    assert ended - printed < 5
