"""What is asked and read is the user's alone: others on the machine can open neither folders nor
files of the home.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.settings import Settings
from tests.apps.mcp.serving import over_http
from tests.apps.process import Terminal
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is Quillon and how do I install it?"
OTHERS = 0o077


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Under it others may read what somebody makes without a thought."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def terminal(world: World, searx: Searx, tmp_path: Path) -> Terminal:
    text = (
        "<title>Quillon</title><main><h1>Quillon</h1><p>Quillon is a program that lights nine lamps"
        ' with oil. See <a href="http://docs.example/oil">the oil</a>.</p>'
        + "".join(f"<p>In the year {1800 + n} its lamps led {9 * n} ships.</p>" for n in range(40))
        + "</main>"
    )
    searx.script("", [world.put("docs", "/quillon", text)])
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "oil.md").write_text("# Oil\n\nOil for Quillon is pressed of seeds.\n")
    return Terminal({**world.env, **searx.env}, tmp_path)


def open_to_others(folder: Path) -> list[str]:
    """What of a folder somebody else could open, the folder itself included."""
    found = [folder, *folder.rglob("*")]
    assert len(found) > 1
    return [f"{path} {stat.filemode(path.stat().st_mode)}" for path in found if _others(path)]


def _others(path: Path) -> int:
    return path.lstat().st_mode & OTHERS


def test_nothing_in_the_home_is_open_to_others(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = terminal.run("ask", QUESTION)
    assert code == 0, err
    home = Path(terminal.env["SPADEWORK_HOME"])
    [session] = [path.name for path in (home / "sessions").iterdir()]
    assert terminal.run("index", "notes")[0] == 0
    assert terminal.run("ask", "And the oil?", "--continue", "--library", "notes")[0] == 0
    assert terminal.run("doctor")[0] in (0, 1)
    for name, value in terminal.env.items():
        monkeypatch.setenv(name, value)
    asyncio.run(_have_a_report_written(session))
    there = {path.relative_to(home).parts[0] for path in home.rglob("*") if path.is_file()}
    assert {"sessions", "cache", "knowledge"} <= there, there
    assert (home / "sessions" / session / "exports" / "report.md").is_file()
    assert not open_to_others(home)


async def _have_a_report_written(session: str) -> None:
    async with over_http(Settings.load()) as client:
        made = await client.call_tool("create_research_report", {"session_id": session})
        assert not made.is_error


def test_folders_of_an_earlier_version_are_closed(terminal: Terminal) -> None:
    home = Path(terminal.env["SPADEWORK_HOME"])
    older = home / "sessions" / "20260101-000000-aaaaaa"
    older.mkdir(parents=True)
    assert _others(home / "sessions")
    assert terminal.run("ask", QUESTION)[0] == 0
    assert not _others(home / "sessions")
    assert stat.S_IMODE(home.stat().st_mode) == 0o755  # it may be a folder with other things in it


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_a_file_that_the_user_names_has_the_permissions_of_their_umask(
    terminal: Terminal, umask: int
) -> None:
    os.umask(umask)
    assert terminal.run("ask", QUESTION, "-o", "report.md")[0] == 0
    for ending in ("html", "json", "bib", "docx"):
        [session] = [p.name for p in Path(terminal.env["SPADEWORK_HOME"], "sessions").iterdir()]
        assert terminal.run("sessions", "export", session, "-o", f"report.{ending}")[0] == 0
    files = list(terminal.folder.glob("report.*"))
    assert len(files) == 5
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o666 & ~umask}
