"""`langgraph dev` serves the graph of langgraph.json, as a newcomer would start it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client

ROOT = Path(__file__).resolve().parents[2]
NOTES = "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding. It was designed in Port Aldermere in 1931.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "notes").mkdir()
    (folder / "notes" / "quillon.md").write_text(NOTES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI", "LANGSMITH"))}
    env |= {"SPADEWORK_HOME": str(folder / "home"), "SPADEWORK_LIBRARY": str(folder / "notes"), "SPADEWORK_SEARCH": "library"}
    env |= {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "PATH": f"{Path(sys.executable).parent}:{env['PATH']}"}
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    log = (folder / "log").open("w+")
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/ok", process, Path(log.name))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)
            log.close()


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_question_runs_without_context_and_hands_over_a_report(server: str) -> None:
    client = get_client(url=server)
    try:
        thread = await client.threads.create()
        types = []
        asked = {"question": "What is the Quillon?"}
        async for part in client.runs.stream(thread["thread_id"], "research", input=asked, stream_mode=["custom", "values"]):
            if part.event.startswith("custom"):
                types.append(part.data["type"])
        state = await client.threads.get_state(thread["thread_id"])
        drawing = await client.assistants.get_graph("research", xray=True)
        [assistant] = await client.assistants.search(graph_id="research")
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    finally:
        await client.aclose()
    assert "Quillon is a wind-up radio that plays for 45 minutes after one winding." in state["values"]["report"]
    assert {"planned", "assessed", "finished"} <= set(types)
    assert {"plan", "fuse", "assess", "write", "verify", "save"} <= {node["id"] for node in drawing["nodes"]}
    assert any("distil" in str(node["id"]) for node in drawing["nodes"]), "the worker's nodes are shown"
    assert "minutes" in str(schemas["context_schema"])


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-2000:]}")
