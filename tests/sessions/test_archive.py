"""A session goes to another machine as one file, and is read there."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from spadework.apps.terminal.question_input import searching_as
from spadework.budget import Budget
from spadework.sessions.changes import earlier_run
from spadework.sessions.session import Session
from spadework.sessions.storage import archive as archive_module
from spadework.sessions.storage.files import read_metadata
from spadework.settings import Settings
from tests.apps.process import Terminal
from tests.apps.web.prepared import large, put
from tests.tools.export.painted import png
from tests.world.searx import Searx
from tests.world.sites import World

LIMITS = ("iterations", "calls", "searches", "pages", "tokens")
ID = "20260304-101112-a1b2c3"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """An exported session."""
    result, pages = large(ID, sources=2, sections=1, sentences=4)
    put(tmp_path / "here", result, pages)
    secret = tmp_path / "here" / "sessions" / ID / "session.sqlite"
    secret.write_text("a recording")
    code, _, err = Terminal({"SPADEWORK_HOME": str(tmp_path / "here")}, tmp_path).run(
        "export", ID, "-o", "run.zip"
    )
    assert code == 0, err
    return tmp_path / "run.zip"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Terminal:
    return Terminal({"SPADEWORK_HOME": str(tmp_path / "there")}, tmp_path)


def test_a_session_opens_on_another_machine(packed: Path, elsewhere: Terminal) -> None:
    assert elsewhere.run("show", ID)[0] == 2
    code, _, err = elsewhere.run("sessions", "open", "run.zip")
    assert (code, f"Opened {ID}." in err) == (0, True)
    shown = elsewhere.run("show", ID)[1]
    assert "In the year 1500" in shown
    there = packed.parent / "there" / "sessions" / ID
    assert sorted(path.name for path in (there / "pages").iterdir()) == ["h0.md", "h1.md"]
    assert not (there / "session.sqlite").exists(), "recordings stay behind"
    code, out, err = elsewhere.run("replay", ID)
    assert (code, out) == (1, "")
    assert err.startswith(f"spadework: Session {ID} has no recording: exports omit recordings,")
    with zipfile.ZipFile(packed) as archive:
        assert b"In the year 1500" in archive.read("report.html")


def test_its_pictures_go_with_it(tmp_path: Path) -> None:
    whole, pages = large(ID, sources=1, sections=1, sentences=1)
    folder = tmp_path / "sessions" / put(tmp_path, whole, pages)
    (folder / "pictures").mkdir()
    names = (f"{'0' * 64}.png", f"{'0' * 64}.svg", "other.png")
    for name in names:
        (folder / "pictures" / name).write_bytes(png())
    (tmp_path / "run.zip").write_bytes(archive_module.pack(folder, whole))
    archive_module.unpack(tmp_path / "there", tmp_path / "run.zip")
    [there] = (tmp_path / "there" / "sessions" / ID / "pictures").iterdir()
    assert (there.name, there.read_bytes()) == (names[0], png())


def test_an_opened_session_is_no_earlier_run_of_a_watched_question(
    packed: Path, elsewhere: Terminal
) -> None:
    assert elsewhere.run("sessions", "open", "run.zip")[0] == 0
    question = large(ID, sources=1, sections=1, sentences=1)[0].question
    assert earlier_run(packed.parent / "here", question)
    assert earlier_run(packed.parent / "there", question) is None


def test_the_earlier_run_is_the_latest_in_any_time_zone(tmp_path: Path) -> None:
    times = {"a": "2026-03-04T23:00:00-05:00", "b": "2026-03-05T01:00:00+00:00"}
    for letter, began in times.items():
        result, pages = large(f"20260304-101112-{letter}1b2c3", sources=1, sections=1, sentences=1)
        told = tmp_path / "sessions" / put(tmp_path, result, pages) / "session_metadata.json"
        told.write_text(json.dumps(json.loads(told.read_text()) | {"created_at": began}))
    assert (found := earlier_run(tmp_path, result.question))
    assert found[0].id == "20260304-101112-a1b2c3"


def test_a_page_dated_before_1980_is_exported(tmp_path: Path) -> None:
    result, pages = large(ID, sources=1, sections=1, sentences=1)
    folder = tmp_path / "sessions" / put(tmp_path, result, pages)
    os.utime(folder / "pages" / "h0.md", (0, 0))
    with zipfile.ZipFile(io.BytesIO(archive_module.pack(folder, result))) as archive:
        assert archive.read(f"{ID}/pages/h0.md") == (folder / "pages" / "h0.md").read_bytes()


def test_a_session_that_is_there_is_not_replaced(packed: Path, elsewhere: Terminal) -> None:
    assert elsewhere.run("sessions", "open", "run.zip")[0] == 0
    code, _, err = elsewhere.run("sessions", "open", "run.zip")
    assert (code, err) == (1, f"spadework: Session {ID} is already stored here.\n")


@pytest.mark.parametrize("name", ["../../escaped.md", "/escaped.md", "pages/../../../escaped.md"])
def test_nothing_is_written_beside_the_session(
    packed: Path, elsewhere: Terminal, name: str
) -> None:
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(f"{ID}/{name}", "escaped")
    elsewhere.run("sessions", "open", "run.zip")
    assert not list(packed.parent.rglob("escaped.md"))


@pytest.mark.parametrize("held", [b"no zip at all", None])
def test_another_file_is_refused_in_one_sentence(
    tmp_path: Path, elsewhere: Terminal, held: bytes | None
) -> None:
    file = tmp_path / "other.zip"
    if held is None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a/letter.txt", "Dear all")
    else:
        file.write_bytes(held)
    code, _, err = elsewhere.run("sessions", "open", "other.zip")
    assert code == 2
    assert err.startswith("spadework: other.zip is not a session exported by spadework.")
    assert not list((tmp_path / "there" / "sessions").glob("*"))


def repacked(file: Path, changed: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> None:
    """Replace members of an archive, or add them."""
    with zipfile.ZipFile(file) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, data in (held | changed).items():
            archive.writestr(name, data)


FOREIGN = {
    "settings": {
        "search": "mcp",
        "mcp_search": "search @ touch pwned",
        "library": ["/etc"],
        "model": "openai:any",
        "fallback_base_url": "http://elsewhere.example/v1",
    },
    "limits": dict.fromkeys(("minutes", "money"), 900) | dict.fromkeys(LIMITS, 9_000),
    "attachments": ["/etc/passwd"],
    "follows": "20260101-101112-a1b2c3",
    "wishes": "Write of nothing else.",
}


async def test_what_somebody_else_has_set_is_not_taken_over(
    packed: Path, elsewhere: Terminal
) -> None:
    name = f"{ID}/session_metadata.json"
    with zipfile.ZipFile(packed) as archive:
        told = json.loads(archive.read(name))
        kept = json.loads(archive.read(f"{ID}/result.json"))
    foreign = json.dumps(kept | {"session_dir": "/home/somebody"}).encode()
    repacked(packed, {name: json.dumps(told | FOREIGN).encode(), f"{ID}/result.json": foreign})
    assert elsewhere.run("sessions", "open", "run.zip")[0] == 0
    home = packed.parent / "there"
    opened = read_metadata(home / "sessions" / ID)
    assert (opened.query, opened.status) == (kept["question"], kept["status"])
    assert not (opened.settings or opened.limits or opened.attachments or opened.follows)
    own = Settings(home=home, minutes=3)
    assert searching_as(own, ID) == own
    resumed = Session.resume(ID, home=home)
    assert not (resumed.settings.mcp_search or resumed.brief.attachments)
    assert resumed.budget.limits == Budget.of(Settings(home=home)).limits
    assert not resumed.settings.fallback_base_url
    assert (await resumed.result()).session_dir == str(home / "sessions" / ID)


def test_it_is_followed_up_with_the_settings_of_the_machine_it_is_on(
    packed: Path, world: World, searx: Searx
) -> None:
    name = f"{ID}/session_metadata.json"
    with zipfile.ZipFile(packed) as archive:
        told = json.loads(archive.read(name))
    repacked(packed, {name: json.dumps(told | FOREIGN).encode()})
    home = packed.parent / "there"
    env = {**world.env, **searx.env, "SPADEWORK_HOME": str(home)}
    there = Terminal(env | {"SPADEWORK_SEARCH": "searxng"}, packed.parent)
    assert there.run("sessions", "open", "run.zip")[0] == 0
    code, out, err = there.run("ask", "What is known about Port Aldermere?", "--follow", ID)
    assert (code, "Aldermere" in out) == (0, True), err
    assert searx.queries
    (followed,) = {path.name for path in (home / "sessions").iterdir()} - {ID}
    began = read_metadata(home / "sessions" / followed)
    assert (began.follows, began.settings.get("library")) == (ID, None)
    assert not list(packed.parent.rglob("pwned"))


def test_nothing_of_its_owner_leaves(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here" / "sessions" / ID
    told = json.loads((folder / "session_metadata.json").read_text())
    (folder / "session_metadata.json").write_text(json.dumps(told | FOREIGN))
    (folder / "events.jsonl").write_text(json.dumps({"folder": str(folder)}))
    owner = Terminal({"SPADEWORK_HOME": str(tmp_path / "here")}, tmp_path)
    assert owner.run("export", ID, "-o", "run.zip")[0] == 0
    with zipfile.ZipFile(packed) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for secret in (str(tmp_path), "mcp_search", "/etc", "nothing else"):
        assert secret not in whole


def test_an_archive_is_private(packed: Path, elsewhere: Terminal) -> None:
    elsewhere.run("sessions", "open", "run.zip")
    held = [packed.parent / "there" / "sessions", *(packed.parent / "there").rglob("sessions/*/**")]
    assert len(held) > 1
    for path in (*held, *(packed.parent / "there" / "sessions").rglob("*")):
        if ID in str(path):
            assert path.stat().st_mode & 0o077 == 0, path


NAIVE = b'{"created_at": "2026-03-04T10:11:12", "query": "Which?"}'
FAR = b'{"created_at": "2026-03-04T10:11:12Z", "query": "Which?", "utc_offset": 1440}'
SPACES = bytes(archive_module.MOST_FILE_BYTES + 1)


@pytest.mark.parametrize(
    ("changed", "how", "said"),
    [
        ({f"{ID}/result.json": b"null"}, zipfile.ZIP_DEFLATED, "cannot be opened: Session"),
        ({f"{ID}/result.json": b"{"}, zipfile.ZIP_DEFLATED, "cannot be opened: Session"),
        ({f"{ID}/session_metadata.json": NAIVE}, zipfile.ZIP_DEFLATED, "created_at"),
        ({f"{ID}/session_metadata.json": FAR}, zipfile.ZIP_DEFLATED, "utc_offset"),
        ({f"{ID}/pages/h9.md": SPACES}, zipfile.ZIP_DEFLATED, "The session is too large."),
        ({f"{ID}/pages/h9.md": b"a"}, zipfile.ZIP_BZIP2, "is not a session exported"),
        ({f"{ID}/pages/h9.md": b"a"}, zipfile.ZIP_LZMA, "is not a session exported"),
        (
            {f"{ID}/pages/{n}.md": b"" for n in range(archive_module.MOST_FILES)},
            zipfile.ZIP_STORED,
            "The session is too large.",
        ),
        (
            {f"{ID}-{n}/pages/h.md": b"" for n in (1, 2)},
            zipfile.ZIP_STORED,
            "is not a session exported",
        ),
    ],
)
def test_an_archive_that_is_not_whole_or_too_large_is_refused(
    packed: Path, elsewhere: Terminal, changed: dict[str, bytes], how: int, said: str
) -> None:
    repacked(packed, changed, how)
    assert_refused(packed, elsewhere, said)


def assert_refused(packed: Path, elsewhere: Terminal, said: str) -> None:
    code, _, err = elsewhere.run("sessions", "open", "run.zip")
    assert (code, said in err, err.count("\n")) == (2, True, 1), err
    assert not list((packed.parent / "there" / "sessions").glob("*"))


def test_a_session_without_its_result_is_refused(packed: Path, elsewhere: Terminal) -> None:
    with zipfile.ZipFile(packed) as archive:
        held = {n: archive.read(n) for n in archive.namelist() if not n.endswith("result.json")}
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in held.items():
            archive.writestr(name, data)
    assert_refused(packed, elsewhere, "is not a session exported")


def test_a_header_that_lies_about_a_size_is_not_believed(packed: Path, elsewhere: Terminal) -> None:
    repacked(packed, {f"{ID}/pages/h9.md": SPACES})
    real, told = (n.to_bytes(4, "little") for n in (len(SPACES), 10))
    packed.write_bytes(packed.read_bytes().replace(real, told))
    assert_refused(packed, elsewhere, "is not a session exported")


@pytest.mark.parametrize("flag", [0x01, 0x20])
def test_an_encrypted_archive_is_refused(packed: Path, elsewhere: Terminal, flag: int) -> None:
    data = bytearray(packed.read_bytes())
    for start, at in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = -1
        while (place := data.find(start, place + 1)) >= 0:
            data[place + at] |= flag
    packed.write_bytes(data)
    assert_refused(packed, elsewhere, "is not a session exported")


def test_a_damaged_archive_is_one_sentence(packed: Path, elsewhere: Terminal) -> None:
    whole = packed.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        packed.write_bytes(whole[:place] + b"\xff" * 24 + whole[place + 24 :])
        code, _, err = elsewhere.run("sessions", "open", "run.zip")
        assert (code in (0, 1, 2), err.count("\n")) == (True, 1), err
        shutil.rmtree(packed.parent / "there", ignore_errors=True)
    packed.unlink()
    assert_refused(packed, elsewhere, "run.zip cannot be opened: No such file")
