"""The notebook of LangGraph runs from its first cell to its last, and answers."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "langgraph.ipynb"


async def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "notebook"}
    said = []
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "kept without outputs"
            code = compile(
                "".join(cell["source"]), str(NOTEBOOK), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            )
            waiting = eval(code, names)
            if inspect.isawaitable(waiting):
                await waiting
            said.append(capsys.readouterr().out)
    _, asked, planned, answered, followed, form = said
    assert "\nfinished\n" in asked
    assert "wind-up radio" in asked
    assert planned.startswith("['")
    assert "wind-up radio" in answered
    assert "Port Aldermere" in followed
    assert all(group in form for group in ("Limits", "Answer", "Search", "Reading", "Models"))
