"""Recorded sessions, replayed to the reports that stand beside them: what a prompt, a reader, the
judging or the writing changes shows here without any server.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from spadework.sessions.replay import replay

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("name", ["with-model", "without-model"])
async def test_a_recorded_session_comes_to_the_report_beside_it(name: str, tmp_path: Path) -> None:
    report = _unpacked(name, tmp_path)
    [folder] = (tmp_path / "sessions").iterdir()
    done = await replay(tmp_path, folder.name)
    anew = "meant so? then: python -m tests.recorded.record"
    assert [str(missing) for missing in done.missing] == [], anew
    assert done.result.report == report, anew
    assert done.result.citations
    assert done.same


def _unpacked(name: str, home: Path) -> str:
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(home / "sessions", filter="data")
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
