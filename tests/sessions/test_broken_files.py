"""Broken and older files, through the commands a user has: no traceback, one sentence
that names the file, and every other session as it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.apps.process import Terminal
from tests.sessions.broken import BREAKAGES, DATABASE_BREAKAGES, FILES, share
from tests.thinned import thinned

QUESTION = "What is the Quillon?"
METADATA, RESULT, JOURNAL = "session_metadata.json", "result.json", "session.sqlite"
NOTE = (
    "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding.\n\n## Use"
    "\n\nTo use the Quillon, turn the crank thirty times.\n"
)
Breaks = Callable[[Path], object]


@dataclass
class Place:
    """A home with three sessions: a whole one, one that is finished and one that is not."""

    home: Path
    whole: str
    finished: str
    unfinished: str

    def folder(self, session_id: str) -> Path:
        return self.home / "sessions" / session_id

    def state(self, but: str = "") -> dict[Path, bytes | None]:
        """Every file and folder, without those of one session."""
        return {
            path: path.read_bytes() if path.is_file() else None
            for path in self.home.rglob("*")
            if not but or but not in path.parts
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("made")
    (folder / "notes").mkdir()
    (folder / "notes" / "quillon.md").write_text(NOTE)
    settings = Settings.load(home=folder / "home", search="library", library=(folder / "notes",))

    async def run() -> Place:
        ids = [(await Session.start(QUESTION, settings=settings).result()).session_id]
        ids += [(await Session.start(QUESTION, settings=settings).result()).session_id]
        session = Session.start(QUESTION, settings=settings)
        async with aclosing(session.events()) as events:
            async for event in events:
                if event.type == "read":
                    break
        return Place(settings.home, *ids, session.session_id)

    return asyncio.run(run())


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy of it."""
    shutil.copytree(made.home, tmp_path / "home")
    return Place(tmp_path / "home", made.whole, made.finished, made.unfinished)


@pytest.fixture
def terminal(made: Place, place: Place, tmp_path: Path) -> Terminal:
    notes = str(made.home.parent / "notes")
    env = {"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": notes}
    return Terminal({**env, "SPADEWORK_HOME": str(place.home)}, tmp_path)


def changed(**fields: object) -> Breaks:
    """Other fields in a JSON file; None takes one away."""

    def breaks(path: Path) -> None:
        told = json.loads(path.read_text()) | fields
        path.write_text(json.dumps({k: v for k, v in told.items() if v is not None}))

    return breaks


def missing(path: Path) -> None:
    path.unlink()


CASES: dict[str, tuple[str, str, Breaks]] = {
    **{f"journal {how}": ("finished", JOURNAL, b) for how, b in DATABASE_BREAKAGES.items()},
    **{f"own journal {how}": ("unfinished", JOURNAL, b) for how, b in DATABASE_BREAKAGES.items()},
    **{
        f"{name} {how}": ("finished", name, BREAKAGES[how])
        for name in (METADATA, RESULT)
        for how in ("cut off", "empty", "no text", "wrong types", "a folder", "cannot be opened")
    },
    **{
        f"own metadata {how}": ("unfinished", METADATA, BREAKAGES[how])
        for how in ("cut off", "no JSON", "a list", "too deep")
    },
    "metadata missing": ("finished", METADATA, missing),
    "own metadata missing": ("unfinished", METADATA, missing),
    "metadata without a date": ("unfinished", METADATA, changed(created_at=None)),
    "result of wrong types": ("finished", RESULT, changed(topics={"a": 1})),
    "progress a folder": ("finished", "progress_tracking.json", BREAKAGES["a folder"]),
    "log cut off": ("finished", "events.jsonl", share(0.9)),
    "ledger no text": ("finished", "evidence.jsonl", BREAKAGES["no text"]),
}


@pytest.mark.parametrize("case", thinned(CASES, 6))
def test_a_broken_file_costs_its_session_alone(place: Place, terminal: Terminal, case: str) -> None:
    which, name, breaks = CASES[case]
    session_id = getattr(place, which)
    breaks(place.folder(session_id) / name)
    for command in (["sessions"], ["stats"], ["sessions", "show", session_id]):
        code, out, err = terminal.run(*command)
        assert code in (0, 1), err
        assert err.count("\n") <= 1, err
        assert command[-1] == session_id or place.whole in out
    whole = place.folder(place.whole)
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    code, out, err = terminal.run("resume", session_id)
    assert "Traceback" not in err
    assert code == 2 if "There is no session" in err else code in (0, 1), err
    assert ("plays for 45 minutes" in out) == (code == 0)
    assert {path: path.read_bytes() for path in before} == before
    code, _, err = terminal.run("sessions", "delete", session_id)
    assert code == 0 or "There is no session" in err, err


@pytest.mark.parametrize("how", thinned(DATABASE_BREAKAGES, 6))
def test_a_session_whose_journal_is_broken_is_not_taken_up(
    place: Place, terminal: Terminal, how: str
) -> None:
    DATABASE_BREAKAGES[how](place.folder(place.unfinished) / JOURNAL)
    code, out, err = terminal.run("resume", place.unfinished)
    assert (code, out) == (1, ""), err
    assert f"Session {place.unfinished} cannot " in err.splitlines()[-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_pipes_in_the_place_of_files_hold_nobody(place: Place, terminal: Terminal) -> None:
    folder = place.folder(place.finished)
    [report] = folder.glob("research_report_*.md")
    for name in (*FILES, JOURNAL, report.name):
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)
    for command in (["sessions"], ["stats"]):
        assert place.whole in terminal.run(*command)[1]
    assert terminal.run("sessions", "show", place.finished)[0] == 1


def test_a_session_of_a_newer_version_is_left_alone(place: Place, terminal: Terminal) -> None:
    folder = place.folder(place.unfinished)
    changed(version=99)(folder / METADATA)
    BREAKAGES["no text"](folder / "events.jsonl")
    before = place.state()
    code, _, err = terminal.run("resume", place.unfinished)
    assert code == 1
    assert "by a newer spadework" in err
    assert place.state() == before


def test_a_session_of_an_older_version_is_refused_in_a_sentence(
    place: Place, terminal: Terminal
) -> None:
    changed(version=1)(place.folder(place.unfinished) / METADATA)
    before = place.state()
    code, out, err = terminal.run("resume", place.unfinished)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "was written by an older spadework (file version" in err
    assert place.state() == before
    assert place.whole in terminal.run("sessions")[1]


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *(
            pytest.param(name, how, marks=[pytest.mark.full] * bool(n))
            for name, ways in {
                "cache/hosts.json": ("half", "a folder"),
                "endings.json": ("half", "a folder"),
                "library/*/documents.db": ("half", "overwritten", "a folder", "empty"),
                "library/*/index/meta.json": ("no JSON", "half"),
                "library/*/index/*.store": ("no text", "half"),
            }.items()
            for n, how in enumerate(ways)
        ),
        ("endings.json", "too deep"),
        ("cache/searches.sqlite", "no database"),
    ],
)
def test_a_broken_file_of_the_home_ends_no_run(
    place: Place, terminal: Terminal, name: str, how: str
) -> None:
    found = list(place.home.glob(name))
    path = found[0] if found else place.home / name
    if not found:
        path.parent.mkdir(exist_ok=True)
        shutil.copy(place.folder(place.whole) / JOURNAL, path)
    (DATABASE_BREAKAGES | BREAKAGES)[how](path)
    code, out, err = terminal.run("ask", QUESTION)
    assert code == 0, err
    assert "plays for 45 minutes" in out
    assert terminal.run("sessions")[0] == 0
