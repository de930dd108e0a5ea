"""The table of providers says what the code does, and the examples of their guide work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from spadework.tools.search.provider_choice import AUTO, NAMES
from spadework.tools.search.rate_limiter import LIMITS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "searching.md").read_text(encoding="utf-8")
GUIDE = DOCS / "guides" / "add-search-provider.md"


def test_every_provider_is_in_the_table():
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", PAGE, re.MULTILINE))
    assert set(rows) == set(NAMES) - {AUTO}
    for name, limit in LIMITS.items():
        assert ("one at a time" if limit.at_once == 1 else f"{limit.at_once} at once") in rows[name]


def test_the_examples_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPADEWORK_MAX_LEVEL", "0")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(block, GUIDE.name, "exec"), names)
    assert (
        "('the shelf of the harbour office', 'the sources of archive')" in capsys.readouterr().out
    )
    assert {found.provider for source in names["result"].sources for found in source.found_by} <= {
        "shelf",
        "archive",
    }
    told = {problem.subject for problem in names["result"].problems if problem.stage == "read"}
    assert told <= {"https://harbour.example/census", "https://archive.example/harbour"}
    assert told
