"""The app of the guide to FastAPI runs: it answers with the report, and streams a run's events."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "fastapi.md"
QUESTION = {"question": "What is the Quillon?"}


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> httpx.AsyncClient:
    """A client of the guide's app over a library of one note."""
    pytest.importorskip("fastapi", reason="FastAPI is not installed")
    (tmp_path / "notes.md").write_text("# Quillon\n\nThe Quillon is a wind-up radio of 2019.\n")
    monkeypatch.setenv("SPADEWORK_LIBRARY", str(tmp_path / "notes.md"))
    code = re.search(r"```python[^\n]*\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert code
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code[1], str(GUIDE), "exec"), names)
    transport = httpx.ASGITransport(names["app"])
    return httpx.AsyncClient(transport=transport, base_url="http://app", timeout=60)


async def test_a_route_answers_with_the_report(client: httpx.AsyncClient) -> None:
    async with client:
        told = (await client.get("/research", params=QUESTION)).raise_for_status().json()
        wrong = await client.get("/research", params={"question": " "})
    assert "wind-up radio" in told["report"]
    assert len(told["sources"]) == 1
    assert (wrong.status_code, "question is empty" in wrong.text) == (422, True)


async def test_a_route_streams_the_events_of_a_run(client: httpx.AsyncClient) -> None:
    async with client, client.stream("GET", "/progress", params=QUESTION) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = [
            json.loads(line.removeprefix("data: "))
            async for line in answer.aiter_lines()
            if line.startswith("data: ")
        ]
    assert (told[0]["type"], told[-1]["type"]) == ("started", "finished")
    assert "wind-up radio" in told[-1]["result"]["report"]
