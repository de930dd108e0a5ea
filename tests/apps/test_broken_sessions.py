"""A session whose files are broken is said to be so; all others, and every door, go on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from spadework.apps.openai.api import recall_session, remember
from spadework.settings import Settings
from tests.apps.mcp.serving import over_http
from tests.apps.process import Terminal
from tests.apps.web.prepared import put
from tests.apps.web.server import Server
from tests.sessions.broken import BREAKAGES, FILES
from tests.thinned import thinned
from tests.tools.export.results import full

pytestmark = pytest.mark.process

WHOLE, BROKEN = "20260101-000000-aaaaaa", "20260202-000000-bbbbbb"


def prepared(home: Path, session_id: str) -> Path:
    """A finished session; its folder."""
    result = full().model_copy(update={"session_id": session_id})
    folder = home / "sessions" / put(home, result, {"h": "A sluice is a gate.\n"})
    rounds = [{"round": 1, "evidence": 2, "coverage": []}]
    (folder / "progress_tracking.json").write_text(json.dumps({"state": "", "rounds": rounds}))
    searched = {"type": "searched", "topic": "a", "query": "b", "provider": "c", "hits": 1}
    (folder / "events.jsonl").write_text(json.dumps(searched) + "\n")
    return folder


def test_a_home_without_sessions_says_so(tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_HOME": str(tmp_path)}, tmp_path)
    assert terminal.run("sessions")[1:] == ("", "There are no sessions yet.\n")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    prepared(tmp_path / "home", WHOLE)
    return Terminal({"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": "."}, tmp_path)


@pytest.mark.parametrize("how", thinned(BREAKAGES, 3))
def test_a_session_without_readable_metadata_is_listed_as_unreadable(
    terminal: Terminal, tmp_path: Path, how: str
) -> None:
    BREAKAGES[how](prepared(tmp_path / "home", BROKEN) / "session_metadata.json")
    code, out, err = terminal.run("sessions")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert first.startswith(f"{BROKEN}  unreadable")
    assert "session_metadata.json: " in first
    assert second == f"{WHOLE}  time_limited    {full().question}"


@pytest.mark.parametrize("how", thinned(BREAKAGES, 3))
@pytest.mark.parametrize("name", FILES)
def test_no_command_breaks_on_a_broken_file(
    terminal: Terminal, tmp_path: Path, name: str, how: str
) -> None:
    BREAKAGES[how](prepared(tmp_path / "home", BROKEN) / name)
    code, out, _ = terminal.run("stats")
    assert code == 0
    assert WHOLE in out
    read_for_it = name in ("session_metadata.json", "result.json")
    assert (f"{BROKEN} cannot be read: {name}: " in out) == read_for_it
    assert terminal.run("sessions", "show", WHOLE)[0] == 0
    code, _, err = terminal.run("sessions", "show", BROKEN)
    assert code == (name == "result.json")
    assert code == 0 or f"{name}: " in err
    assert terminal.run("sessions", "delete", BROKEN)[0] == 0
    assert not (tmp_path / "home" / "sessions" / BROKEN).exists()


@pytest.mark.parametrize("how", thinned(BREAKAGES, 3))
def test_a_result_that_is_broken_is_written_anew_from_the_checkpoint(
    terminal: Terminal, notes: Path, how: str
) -> None:
    terminal.env["SPADEWORK_LIBRARY"] = str(notes)
    made = json.loads(terminal.run("What is the Quillon?", "--json")[1])
    file = Path(made["session_dir"]) / "result.json"
    BREAKAGES[how](file)
    code, out, err = terminal.run("resume", made["session_id"], "--json")
    if how == "a folder":  # nothing can be written there
        assert code != 0
        assert err.count("\n") <= 2
        return
    assert code == 0, err
    assert json.loads(out)["report"] == made["report"]
    assert json.loads(file.read_text()) == made


def test_a_session_without_readable_metadata_is_not_taken_up(
    terminal: Terminal, tmp_path: Path
) -> None:
    BREAKAGES["cut off"](prepared(tmp_path / "home", BROKEN) / "session_metadata.json")
    for command in (["resume", BROKEN], ["ask", "And then?", "--follow", BROKEN]):
        code, out, err = terminal.run(*command)
        assert (code, out) == (1, "")
        assert f"{BROKEN} cannot be read" in err
        assert err.count("\n") == 1


def test_a_session_of_a_newer_version_is_refused_and_left_as_it_is(
    terminal: Terminal, tmp_path: Path
) -> None:
    file = prepared(tmp_path / "home", BROKEN) / "session_metadata.json"
    newer = json.dumps(json.loads(file.read_text()) | {"version": 99, "colour": "red"})
    file.write_text(newer)
    for command in (["resume", BROKEN], ["ask", "And then?", "--follow", BROKEN]):
        code, out, err = terminal.run(*command)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "was written by a newer spadework (file version 99" in err
    code, out, _ = terminal.run("sessions")
    assert code == 0
    assert WHOLE in out
    assert file.read_text() == newer


async def test_a_chat_client_whose_session_is_broken_begins_another(tmp_path: Path) -> None:
    settings = Settings.load(home=tmp_path)
    folder = prepared(tmp_path, BROKEN)
    await remember(settings, "The answer.", BROKEN)
    assert await recall_session(settings, "The answer.") == BROKEN
    BREAKAGES["cut off"](folder / "session_metadata.json")
    assert await recall_session(settings, "The answer.") == ""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one whole session and one for each way in which each file may be broken, all
    of them marked as cut off with the server before.
    """
    home = tmp_path_factory.mktemp("broken") / "home"
    notes = tmp_path_factory.mktemp("notes")
    prepared(home, WHOLE)
    for name in FILES:
        for how, breaks in BREAKAGES.items():
            folder = prepared(home, broken_id(name, how))
            breaks(folder / name)
            (folder / ".served").touch()
    server = Server({"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": str(notes)}, home)
    yield server
    server.stop()


def broken_id(name: str, how: str) -> str:
    return f"20260202-{name.partition('.')[0]}-{how.replace(' ', '-')}"


@pytest.mark.xdist_group("broken sessions")
def test_the_server_starts_and_shows_the_rest(server: Server) -> None:
    with server.client() as client:
        start = client.get("/")
        assert start.status_code == 200
        said = re.findall(
            r'class="asked"[^>]*>(.* cannot be read: session_metadata.json: )', start.text
        )
        assert len(said) == len(BREAKAGES)
        assert client.get("/statistics").status_code == 200
        assert full().question in client.get(f"/s/{WHOLE}").text
        assert client.get(f"/s/{WHOLE}/report.md").text == full().report
    assert "Traceback" not in server.log()


@pytest.mark.xdist_group("broken sessions")
@pytest.mark.parametrize("name", FILES)
def test_each_page_of_a_broken_session_says_so_or_is_shown(server: Server, name: str) -> None:
    with server.client() as client:
        for n, how in enumerate(BREAKAGES):
            # Pages and exports are read by one way for all breakages.
            for path in ("", "/pages/h", "/report.md", "/report.json")[: 4 if n == 0 else 1]:
                answer = client.get(f"/s/{broken_id(name, how)}{path}")
                assert answer.status_code == 200 or _said(answer), (how, path)
            if name not in ("session_metadata.json", "result.json"):
                assert full().question in client.get(f"/s/{broken_id(name, how)}").text, how
    assert "Traceback" not in server.log()


def _said(answer: httpx.Response) -> bool:
    return answer.status_code == 500 and "cannot be read: " in answer.text


async def test_the_latest_session_is_the_latest_that_can_be_read(tmp_path: Path) -> None:
    settings = Settings.load(search="library", library=(tmp_path,))
    prepared(settings.home, WHOLE)
    BREAKAGES["a list"](prepared(settings.home, BROKEN) / "session_metadata.json")
    async with over_http(settings) as client:
        asked = {"session_id": "latest", "part": "evidence"}
        newest = await client.call_tool("get_session_data", asked)
        broken = await client.call_tool("get_session_data", asked | {"session_id": BROKEN})
    assert newest.structured_content["session_id"] == WHOLE
    assert broken.is_error
    assert "cannot be read" in broken.content[0].text


@pytest.mark.parametrize("how", thinned(BREAKAGES, 3))
async def test_parts_of_a_session_are_told_where_others_are_broken(
    tmp_path: Path, how: str
) -> None:
    settings = Settings.load(search="library", library=(tmp_path,))
    folder = prepared(settings.home, BROKEN)
    for name in ("evidence.jsonl", "events.jsonl", "progress_tracking.json"):
        BREAKAGES[how](folder / name)
    async with over_http(settings) as client:
        for part in ("overview", "progress", "plan", "evidence", "sources", "problems"):
            told = await client.call_tool("get_session_data", {"session_id": BROKEN, "part": part})
            assert not told.is_error, part
