"""The drawing of the graph is the graph: as it is declared, and as it runs."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from spadework.graph.research import WORKER_FAILED, graph
from spadework.sessions.session import Session
from spadework.settings import Settings

EDGES = {
    ("__start__", "open"),
    ("open", "receive"),
    ("receive", "revise"),
    ("receive", "write"),
    ("receive", "clarify"),
    ("revise", "verify"),
    ("clarify", "plan"),
    ("plan", "approve"),
    ("approve", "worker"),
    ("approve", "write"),
    ("worker", "fuse"),
    ("worker", WORKER_FAILED),
    (WORKER_FAILED, "fuse"),
    ("fuse", "assess"),
    ("assess", "worker"),
    ("assess", "write"),
    ("write", "verify"),
    ("verify", "edit"),
    ("edit", "worker"),
    ("edit", "write"),
    ("edit", "save"),
    ("save", "__end__"),
}


def test_every_edge_is_drawn_and_no_other() -> None:
    assert {(edge.source, edge.target) for edge in graph.get_graph().edges} == EDGES


async def test_a_round_is_fused_once_when_workers_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr("spadework.graph.nodes.gather.read_pages", fails)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(
        "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding.\n"
    )
    settings = Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)
    session, types = Session.start("What is the Quillon?", settings=settings), []
    async with aclosing(session.events()) as events:
        async for event in events:
            types.append(event.type)
            if event.type == "finished":
                failed = [problem for problem in event.result.problems if problem.stage == "worker"]
    assert failed
    assert types.count("assessed") == 1
