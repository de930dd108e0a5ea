"""Where a result goes: the endings, what is refused before a run, and the files that are
written.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import get_args

import docx
import pytest

from spadework.apps.commands.stored_sessions import export
from spadework.apps.mcp.tool_outputs import Format
from spadework.apps.outputs import ENDINGS, Output, write_output
from spadework.apps.web.pages import MEDIA_TYPES
from spadework.errors import SettingsError
from spadework.values import Result
from tests.tools.export.results import full


@pytest.mark.parametrize("ending", [".md", ".html", ".docx", ".json", ".bib", ".HTML"])
def test_a_file_is_written_by_its_ending(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"report{ending}"
    assert Output(file).check().file == file
    write_output(full(), file)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    data = file.read_bytes()
    if ending == ".docx":
        assert docx.Document(io.BytesIO(data)).paragraphs[0].text == "What is a sluice?"
    elif ending == ".json":
        assert Result.model_validate(json.loads(data)) == full()
    else:
        assert data.startswith(
            {
                ".md": b"# What is a sluice?",
                ".html": b"<!DOCTYPE html>",
                ".bib": b"@online{example-org-1,",
            }[ending.lower()]
        )


def test_every_front_door_hands_over_the_same_formats() -> None:
    assert MEDIA_TYPES.keys() == ENDINGS.keys()
    assert {f".{name}" for name in get_args(Format)} == ENDINGS.keys()


@pytest.mark.parametrize("name", ["report.txt", "report", "report.htm", ".md"])
def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Output(tmp_path / name).check()
    assert repr(name) in str(caught.value)
    assert all(ending in str(caught.value) for ending in ENDINGS)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        Output(tmp_path / "no" / "report.html").check()


def test_a_pdf_is_refused_before_the_run_where_nothing_can_print_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SettingsError, match="neither is installed"):
        Output(tmp_path / "report.pdf").check()


def test_a_finished_session_is_exported(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s"
    folder.mkdir(parents=True)
    (folder / "session_metadata.json").write_text(
        json.dumps({"id": "s", "query": "What is a sluice?"})
    )
    (folder / "result.json").write_text(full().model_dump_json())
    export(tmp_path, "s", tmp_path / "report.html")
    assert "A sluice is a gate" in (tmp_path / "report.html").read_text()
