"""The index of the sessions: it tells what the folders hold, whatever becomes of it or of them."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spadework.sessions.metrics import session_index
from spadework.sessions.metrics.statistics import statistics
from spadework.sessions.storage.session_list import Listed, list_sessions
from tests.apps.web.prepared import large, put

COUNT = 40


def write(home: Path, id_: str, query: str, status: str = "completed") -> Path:
    """The metadata of a session; its folder."""
    folder = home / "sessions" / id_
    folder.mkdir(parents=True, exist_ok=True)
    told = {"id": id_, "created_at": "2026-03-04T00:00:00+00:00", "query": query, "status": status}
    (folder / "session_metadata.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def name(n: int) -> str:
    return f"20260101-{n:06}-abcdef"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with sessions that the index knows, as if they had been there for long."""
    monkeypatch.setattr(session_index, "SETTLED_NS", 0)
    for n in range(COUNT):
        write(tmp_path, name(n), f"Question {n}?")
    time.sleep(0.02)  # a tick of the clock of the file system
    assert [one.query for one in listed(tmp_path)] == [f"Question {n}?" for n in range(COUNT)][::-1]
    return tmp_path


def listed(home: Path) -> list[Listed]:
    return list(list_sessions(home))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were read since."""
    from spadework.sessions.storage import files

    found: list[Path] = []
    read = files.read_metadata

    def noted(folder: Path) -> files.Metadata:
        found.append(folder)
        return read(folder)

    monkeypatch.setattr(files, "read_metadata", noted)
    return found


def test_what_has_not_changed_is_not_read_again(home: Path, reads: list[Path]) -> None:
    assert len(listed(home)) == COUNT
    assert reads == []


def _remove(home: Path) -> None:
    shutil.rmtree(home / "sessions" / name(3))


def _add(home: Path) -> None:
    write(home, name(COUNT), "A new one?")


def _finish(home: Path) -> None:
    write(home, name(3), "Question 3?", "time_limited")


def _edit(home: Path) -> None:
    """Change a file in its place, to the same size, and set its time back."""
    file = home / "sessions" / name(3) / "session_metadata.json"
    before = file.stat()
    with file.open("r+") as open_:
        text = open_.read().replace("Question 3?", "Question X?")
        open_.seek(0)
        open_.write(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _break(home: Path) -> None:
    (home / "sessions" / name(3) / "session_metadata.json").write_text("{")


def _exchange(home: Path) -> None:
    """Two sessions whose folders are renamed to each other's names."""
    sessions = home / "sessions"
    (sessions / name(3)).rename(sessions / "aside")
    (sessions / name(4)).rename(sessions / name(3))
    (sessions / "aside").rename(sessions / name(4))


@pytest.mark.parametrize("change", [_remove, _add, _finish, _edit, _break, _exchange])
def test_what_becomes_of_a_folder_is_seen_at_once(
    home: Path, change: Callable[[Path], None], reads: list[Path]
) -> None:
    before = listed(home)
    change(home)
    after = listed(home)
    assert after != before
    assert len(reads) <= 2, "only what has changed is read"
    (home / session_index.INDEX).unlink()
    assert listed(home) == after


def _garbage(file: Path) -> None:
    file.write_bytes(b"no database at all" * 500)


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _another(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("DROP TABLE rows")
        db.execute("CREATE TABLE rows (something, else_)")
    db.close()


def _newer(file: Path) -> None:
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.parametrize("break_it", [Path.unlink, _garbage, _cut, _folder, _another, _newer])
def test_an_index_that_is_broken_or_gone_is_made_anew(
    home: Path, break_it: Callable[[Path], None], reads: list[Path]
) -> None:
    before = listed(home)
    break_it(home / session_index.INDEX)
    assert listed(home) == before
    if (home / session_index.INDEX).is_file():
        reads.clear()
        assert listed(home) == before
        assert reads == []


def test_no_damage_makes_a_wrong_list(home: Path) -> None:
    file, chance = home / session_index.INDEX, random.Random(5)
    before, whole = listed(home), file.read_bytes()
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 3, 40))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        file.write_bytes(damaged)
        assert listed(home) == before


def test_what_has_only_just_changed_is_not_trusted(
    tmp_path: Path, reads: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, name(1), "Question 1?")
    for _ in range(2):
        assert listed(tmp_path)[0].query == "Question 1?"
    assert len(reads) == 2, "it may change again within the same tick"


def test_a_home_that_cannot_be_written_to_is_listed(home: Path) -> None:
    (home / session_index.INDEX).unlink()
    home.chmod(0o500)
    try:
        assert len(listed(home)) == COUNT
    finally:
        home.chmod(0o700)


def test_another_process_that_writes_is_not_waited_for_to_the_end(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "BUSY_SECONDS", 0.1)
    other = sqlite3.connect(home / session_index.INDEX, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert len(listed(home)) == COUNT
    finally:
        other.close()
    assert (home / session_index.INDEX).exists()


def test_a_sentence_is_said_once_where_it_takes_long(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    assert len(list(list_sessions(home, said.append))) == COUNT
    assert said == []
    (home / session_index.INDEX).unlink()
    monkeypatch.setattr(session_index, "LONG_SECONDS", 0.0)
    assert len(list(list_sessions(home, said.append))) == COUNT
    assert said == [
        f"Rebuilding the index of {COUNT} sessions from their folders. This takes a moment."
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    ("front", "kept"), [("commands.statistics", "set()"), ("cli", "{'asyncio'}")]
)
def test_the_index_is_told_without_what_a_run_needs(front: str, kept: str) -> None:
    heavy = "'asyncio', 'langgraph', 'pydantic_settings', 'spadework.settings', 'spadework.values'"
    code = f"import sys, spadework.apps.{front}; print({{{heavy}}} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == kept


@pytest.mark.timed
def test_many_sessions_are_counted_from_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "SETTLED_NS", 0)
    result, _ = large("x", sources=20, sections=4, sentences=5)
    for n in range(600):
        put(tmp_path, result.model_copy(update={"session_id": name(n)}), {})
    time.sleep(0.02)
    began = time.process_time()
    first = statistics(tmp_path)
    without = time.process_time() - began
    began = time.process_time()
    again = statistics(tmp_path)
    with_it = time.process_time() - began
    assert again.as_json() == first.as_json()
    assert len(again.sessions) == 600
    assert with_it < without / 5
    assert with_it < 0.5 * 600 / 10_000 * 3, "seconds: thrice what 10,000 may take, for any machine"
