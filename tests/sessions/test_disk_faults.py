"""A disk that is full, read-only or gone ends a run in one sentence; what it has gathered stays,
and it is taken up when there is room again.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from spadework.errors import DiskFailed, SessionUnreadable
from spadework.events import Finished, Read
from spadework.sessions.runs import Runs
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.apps.process import Terminal
from tests.thinned import thinned
from tests.world.disk import SmallDisk, small_disk
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.process

QUESTION = "What is Quillon and how do I install it?"


@pytest.fixture
def terminal(world: World, searx: Searx, tmp_path: Path) -> Terminal:
    """Twelve pages on the subject, in a world without a model."""
    sites, urls = ("blog", "news", "docs", "forum"), []
    for n in range(12):
        years = "".join(f"<p>In {1800 + i} it led {9 * i + n} ships.</p>" for i in range(60))
        text = (
            f"<title>Quillon {n}</title><main><h1>Quillon</h1><p>Quillon is a program that lights"
            f" {n + 3} lamps with oil.</p>{years}<h2>Install Quillon</h2><p>To install Quillon, run"
            " this command:</p><pre><code>quillon install</code></pre></main>"
        )
        urls.append(world.put(sites[n % 4], f"/quillon-{n}", text))
    searx.script("", urls)
    return Terminal({**world.env, **searx.env, "SPADEWORK_KNOWLEDGE": "false"}, tmp_path)


@pytest.fixture
def settings(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in terminal.env.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


@pytest.fixture
def disk(terminal: Terminal) -> Iterator[SmallDisk]:
    with small_disk(Path(terminal.env["SPADEWORK_HOME"]), "400k") as disk:
        yield disk


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_wherever_the_room_ends_a_run_says_so_and_is_taken_up(terminal: Terminal) -> None:
    limits = (0, 3_000, 1_600_000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.sessions.filling", QUESTION, *map(str, limits)],
        env=terminal.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    assert "Traceback" not in done.stderr
    whole, first, *others = [json.loads(line) for line in done.stdout.splitlines()]
    # Not even what was asked could be written down: nothing is left of it.
    assert first["error"] == "DiskFailed"
    assert "cannot start in " in first["said"]
    assert first["folder"] is False
    assert len(others) == len(limits) - 1
    for told in others:
        assert told["error"] == "DiskFailed", told
        assert "Everything gathered is kept." in told["said"]
        assert "spadework resume" in told["hint"]
        assert told["report"] == whole["report"]
        assert told["lost"] == 0
    assert others[-1]["kept"] > 0


def test_a_full_disk(terminal: Terminal, disk: SmallDisk) -> None:
    code, out, err = terminal.run("ask", QUESTION)
    assert (code, out) == (1, "")
    said = err.splitlines()[-1]
    assert "cannot continue: " in said
    assert "no space left" in said
    assert "Traceback" not in err
    [session] = (disk.folder / "sessions").iterdir()
    assert terminal.run("sessions")[0] == 0
    disk.change("size=50m")
    code, out, err = terminal.run("resume", session.name)
    assert code == 0, err
    assert "quillon install" in out


def test_a_disk_that_can_only_be_read(terminal: Terminal, disk: SmallDisk) -> None:
    disk.change("size=50m")
    code, report, _ = terminal.run("ask", QUESTION)
    assert code == 0
    [session] = (disk.folder / "sessions").iterdir()
    disk.change("ro")
    assert terminal.run("sessions", "show", session.name)[:2] == (0, report)
    assert terminal.run("sessions")[0] == 0
    assert terminal.run("stats")[0] == 0
    assert terminal.run("resume", session.name)[:2] == (0, report)
    assert terminal.run("replay", session.name)[:2] == (0, report)
    assert terminal.run("sessions", "export", session.name, "-o", "report.md")[0] == 0
    for command in (
        ["ask", QUESTION],
        ["ask", "And the oil?", "--continue"],
        ["sessions", "delete", session.name],
        ["index", "."],
        ["doctor"],
    ):
        code, _, err = terminal.run(*command)
        assert code in (1, 2), command
        assert command == ["doctor"] or err.count("\n") == 1, (command, err)
    assert session.is_dir()


@pytest.mark.parametrize("what", thinned(["session", "sessions"], 2))
async def test_a_folder_that_is_removed_under_a_run(settings: Settings, what: str) -> None:
    session = Session.start(QUESTION, settings=settings)
    away = settings.home / "away"
    taken = {"session": session.folder, "sessions": session.folder.parent}[what]
    with pytest.raises(DiskFailed, match="was removed or cannot be reached"):
        async with aclosing(session.events()) as events:
            async for event in events:
                if isinstance(event, Read) and not away.exists():
                    taken.rename(away)
    # It comes back, as a network's disk does.
    shutil.rmtree(taken, ignore_errors=True)
    away.rename(taken)
    result = await Session.resume(session.session_id, settings=settings).result()
    assert "quillon install" in result.report, (result.problems, result.status)


@pytest.mark.full
async def test_pages_that_cannot_be_written_are_no_report_without_them(settings: Settings) -> None:
    session = Session.start(QUESTION, settings=settings)
    pages = session.folder / "pages"
    with pytest.raises(DiskFailed, match="Everything gathered is kept"):
        async with aclosing(session.events()) as events:
            async for event in events:
                if event.type == "planned":
                    pages.rmdir()
                    pages.write_text("")  # what stands in their place
    pages.unlink()
    result = await Session.resume(session.session_id, settings=settings).result()
    assert "quillon install" in result.report
    assert not result.problems


async def test_a_server_tells_its_watchers(settings: Settings) -> None:
    session = Session.start(QUESTION, settings=settings)
    runs = Runs(settings)
    run = runs.start(session)
    told = []
    async for _, event in run.watch(0):
        told.append(event)
        if isinstance(event, Read) and session.folder.exists():
            shutil.rmtree(session.folder, ignore_errors=True)
    await runs.close()
    assert told[-1].type == "ended"
    assert "was removed or cannot be reached" in told[-1].text
    assert not [event for event in told if isinstance(event, Finished)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_output_into_a_full_disk_is_one_sentence(terminal: Terminal) -> None:
    assert terminal.run("ask", QUESTION)[0] == 0
    [session] = (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").iterdir()
    for command in (["sessions"], ["sessions", "show", session.name, "--json"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "spadework", *command],
                env=terminal.env,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert "No space left" in done.stderr


async def test_a_journal_of_a_newer_version_is_refused_and_left_as_it_is(
    settings: Settings,
) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with aclosing(session.events()) as events:
        async for event in events:
            if event.type == "planned":
                break
    journal = session.folder / "session.sqlite"
    with closing(sqlite3.connect(journal)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(SessionUnreadable, match="by a newer spadework"):
        await Session.resume(session.session_id, settings=settings).result()
    with closing(sqlite3.connect(journal)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)


async def test_a_journal_that_is_no_database_is_one_sentence(settings: Settings) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with aclosing(session.events()) as events:
        async for event in events:
            if event.type == "planned":
                break
    (session.folder / "session.sqlite").write_bytes(b"Dear diary, " * 1_000)
    for rest in session.folder.glob("session.sqlite-*"):
        rest.unlink()
    with pytest.raises(SessionUnreadable, match=r"session\.sqlite: file is not"):
        await Session.resume(session.session_id, settings=settings).result()
