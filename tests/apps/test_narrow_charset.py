"""Standard output that holds only some characters, as a pipe on Windows does: nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

NARROW = {
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "the C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
NOTE = (
    "# Pier of Łódź → Gdańsk\n\nThe pier of Łódź is 84 m long, and its Greek name is Λιμάνι. It"
    " costs 5 € — 日本 pays half.\n"
)


@pytest.fixture(params=NARROW)
def narrow(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mål.md").write_text(NOTE, encoding="utf-8")
    env = {"SPADEWORK_LIBRARY": str(tmp_path / "notes"), "SPADEWORK_SEARCH": "library"}
    return {**os.environ, **env, **NARROW[request.param]}


def run(env: dict[str, str], *arguments: str) -> bytes:
    """Standard output of a command that ends well."""
    command = [sys.executable, "-m", "spadework", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_report_is_printed_with_replacements_and_its_file_is_whole(
    narrow: dict[str, str], tmp_path: Path
) -> None:
    printed = run(narrow, "ask", "How long is the pier of Łódź?", "-o", str(tmp_path / "report.md"))
    assert b"84 m long, and its Greek name is" in printed
    written = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert written.startswith("# How long is the pier of Łódź?")
    assert "Greek name is Λιμάνι" in written


def test_json_loses_no_character(narrow: dict[str, str], tmp_path: Path) -> None:
    page = json.loads(run(narrow, "read", str(tmp_path / "notes" / "mål.md"), "--json"))
    assert "Λιμάνι" in page["markdown"]
