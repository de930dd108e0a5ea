"""Following up a session from the command line, and being asked where nobody can answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from spadework.apps.terminal.question_input import searching_as
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.apps.process import Terminal


@pytest.fixture
def offline(notes: Path, tmp_path: Path) -> Terminal:
    return Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)


def test_c_follows_up_the_last_finished_session(offline: Terminal) -> None:
    first = json.loads(offline.run("What is the Quillon?", "--json")[1])
    home = Path(offline.env["SPADEWORK_HOME"]) / "sessions"
    unfinished = home / "99990101-000000-abcdef"
    unfinished.mkdir()
    (unfinished / "session_metadata.json").write_text(
        json.dumps({"id": unfinished.name, "query": "What?"})
    )
    code, out, err = offline.run("-c", "How much does it weigh?", "--json")
    assert code == 0, err
    second = json.loads(out)
    metadata = json.loads((Path(second["session_dir"]) / "session_metadata.json").read_text())
    assert metadata["follows"] == first["session_id"]
    assert "Already known" in err
    code, _, err = offline.run("ask", "And where?", "--follow", first["session_id"], "--json")
    assert code == 0, err


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["-c", "And then?"], 2, "no finished session"),
        (["-c", "--follow", "20260101-000000-abcdef", "And then?"], 2, "cannot be used together"),
        (["--follow", "20260101-000000-abcdef", "And then?"], 2, "no session"),
        (["What?", "--approve"], 2, "--approve needs a terminal"),
        (["What?", "--clarify"], 2, "--clarify needs a terminal"),
        (["What?", "--attach", "-"], 2, "standard input"),
        (["chat", "-c"], 2, "no finished session"),
    ],
)
def test_what_cannot_be_followed_or_asked_is_one_sentence(
    offline: Terminal, arguments: list[str], code: int, named: str
) -> None:
    ended, out, err = offline.run(*arguments)
    assert (ended, out) == (code, "")
    assert named in err
    assert err.count("\n") == 1


@pytest.mark.full
def test_where_nobody_can_be_asked_a_run_goes_on_by_itself(offline: Terminal) -> None:
    offline.env |= {"SPADEWORK_APPROVE": "1", "SPADEWORK_CLARIFY": "1"}
    code, out, err = offline.run("What is the Quillon?")
    assert code == 0, err
    assert out.startswith("# What is the Quillon?")


@pytest.mark.full
def test_a_session_in_another_home_is_taken_up(offline: Terminal, tmp_path: Path) -> None:
    first = json.loads(offline.run("What is the Quillon?", "--json", "--home", "elsewhere")[1])
    code, out, err = offline.run("resume", first["session_id"], "--json", "--home", "elsewhere")
    assert code == 0, err
    assert json.loads(out)["session_id"] == first["session_id"]


async def test_a_follow_up_is_searched_where_the_session_before_was_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "quillon.md").write_text("# Quillon\n\nQuillon is a radio. Its spring lasts an hour.")
    asked = Settings.load(search="library", library=(notes,))
    first = Session.start("What is the Quillon?", settings=asked)
    where = (await first.result()).searched
    for question in ("How long does its spring last?", "shorter"):
        settings = searching_as(Settings.load(), first.session_id)
        session = Session.start(question, settings=settings, follows=first.session_id)
        assert (await session.result()).searched == where, question
    told = searching_as(Settings.load(search="duckduckgo"), first.session_id)
    assert (told.search, told.library) == ("duckduckgo", (notes,)), "what is told holds"
    monkeypatch.setenv("SPADEWORK_SEARCH", "searxng")
    assert searching_as(Settings.load(), first.session_id).search == "searxng"
    monkeypatch.delenv("SPADEWORK_SEARCH")
    shutil.rmtree(notes)
    assert searching_as(Settings.load(), first.session_id) == Settings.load(), "it is gone"
