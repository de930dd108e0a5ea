"""Old files of Office need LibreOffice where it is installed, in a process that ends at its
deadline and reaches nobody; where it is not, one sentence says so.
"""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from spadework.errors import TooSlow, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.child import read_apart
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.office import office
from spadework.tools.extract.office.office import OLE, old_office
from tests.tools.extract.files import xls

needs_libreoffice = pytest.mark.skipif(not office.program(), reason="needs LibreOffice")

PAGE = """<html><head><title>Dues</title></head><body><h1>Harbour dues</h1>
<p>A berth costs <b>12</b> crowns a day in Port Aldermere.</p></body></html>"""


def storage(*streams: str) -> bytes:
    """The beginning of a storage with streams of these names: enough to tell what it is."""
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    return OLE.ljust(512, b"\0") + entries


def made(folder: Path, name: str, text: str, to: str) -> bytes:
    """An old file, made by LibreOffice itself."""
    (folder / name).write_text(text)
    profile = (folder / "making").as_uri()
    said = ["--headless", "--convert-to", to, "--outdir", str(folder), str(folder / name)]
    subprocess.run(
        [office.program(), f"-env:UserInstallation={profile}", *said],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return (folder / name).with_suffix(f".{to.partition(':')[0]}").read_bytes()


async def read(body: bytes, seconds: float = 60) -> str:
    found = await read_apart(
        body, media_type="application/msword", url="https://x.example/dues", seconds=seconds
    )
    return found.markdown


@pytest.mark.parametrize(
    ("streams", "ending"),
    [
        (("Root Entry", "WordDocument"), "doc"),
        (("Root Entry", "PowerPoint Document"), "ppt"),
    ],
)
def test_what_an_old_file_is_its_inside_says(streams: tuple[str, ...], ending: str):
    found = old_office(storage(*streams))
    assert found
    assert found.ending == ending
    assert kind_of(storage(*streams), "", "https://x.example/").reader == "old"


def test_a_workbook_is_read_without_libreoffice():
    cells = {(0, 0): "Boat", (0, 1): "Crowns", (1, 0): "small", (1, 1): 14.5, (2, 1): 45_000.0}
    found = read_document(xls(cells, dates=[(2, 1)]), media_type="", url="https://x.example/d.xls")
    assert found.kind == "xls"
    assert found.markdown == (
        "## Dues\n\n| Boat | Crowns |\n| --- | --- |\n| small | 14.5 |\n|  | 2023-03-15 |"
    )
    with pytest.raises(Unreadable, match="The workbook is damaged"):
        read_document(storage("Root Entry", "Workbook"), media_type="", url="d.xls")
    with pytest.raises(Unreadable, match="The workbook is damaged"):  # calamine panics
        read_document(xls(cells)[:1_500], media_type="", url="d.xls")


def test_what_only_looks_alike_is_none():
    assert old_office(storage("Root Entry", "__substg1.0_0037001F")) is None
    assert old_office(b"PK\x03\x04") is None
    text = OLE.ljust(512, b"\0") + b"\0" * 64 + "WordDocument\0".encode("utf-16-le")
    assert old_office(text) is None
    with pytest.raises(Unreadable, match="is not supported"):
        read_document(storage("Root Entry"), media_type="", url="message.msg")


def test_a_locked_file_of_any_age_is_said_to_be():
    with pytest.raises(Unreadable, match="protected by a password"):
        old_office(storage("Root Entry", "EncryptedPackage"))


async def test_without_libreoffice_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(office, "program", lambda: "")
    with pytest.raises(Unreadable, match=r"Old Word files \(\.doc\) need LibreOffice") as e:
        await read(storage("Root Entry", "WordDocument"))
    assert "libreoffice-writer-nogui" in str(e.value)
    assert e.value.hint


async def test_in_an_archive_it_is_named_and_not_read():
    with pytest.raises(Unreadable, match=r"Old Word files \(\.doc\)"):
        read_document(storage("Root Entry", "WordDocument"), media_type="", url="a.doc")


@pytest.fixture
def own_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script in the place of LibreOffice, and a folder for what it is given."""
    script = tmp_path / "soffice"
    script.write_text("#!/bin/sh\nsleep 30 & sleep 30\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(office, "program", lambda: str(script))
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    return script


def left(script: Path) -> list[psutil.Process]:
    """Processes of the program that still run."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(script.parent) in " ".join(process.info["cmdline"] or [])
        and process.status() != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.skipif(os.name == "nt", reason="a script of the shell")
async def test_a_program_that_hangs_is_killed_with_its_children_at_the_deadline(own_program: Path):
    began = time.monotonic()
    with pytest.raises(TooSlow, match=r"LibreOffice did not read the Word file within 0\.7 s"):
        await read(storage("Root Entry", "WordDocument"), seconds=0.7)
    assert time.monotonic() - began < 3
    assert left(own_program) == []
    assert list((own_program.parent / "room").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="a script of the shell")
async def test_what_is_cancelled_leaves_nothing(own_program: Path):
    task = asyncio.create_task(read(storage("Root Entry", "WordDocument")))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left(own_program) == []
    assert list((own_program.parent / "room").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="a script of the shell")
def test_it_runs_with_a_profile_without_macros_and_none_of_our_variables(
    own_program: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "k3y")
    own_program.write_text(
        "#!/bin/sh\nout=$(pwd)/out; mkdir -p $out\n"
        f"(env; cat profile/user/registrymodifications.xcu; echo $@) > {own_program.parent}/said\n"
    )
    with pytest.raises(Unreadable, match="LibreOffice cannot read the Word file"):
        asyncio.run(read(storage("Root Entry", "WordDocument")))
    said = (own_program.parent / "said").read_text()
    assert "k3y" not in said
    assert "-env:UserInstallation=file://" in said
    for named in ("DisableMacrosExecution", "DisableActiveContent", "BlockUntrustedRefererLinks"):
        assert f'"{named}" oor:op="fuse"><value>true' in said


@needs_libreoffice
async def test_an_old_word_file_is_read(tmp_path: Path):
    body = await asyncio.to_thread(made, tmp_path, "dues.html", PAGE, "doc:MS Word 97")
    assert await read(body) == (
        "# Harbour dues\n\nA berth costs 12 crowns a day in Port Aldermere."
    )


@needs_libreoffice
async def test_an_old_excel_file_is_read(tmp_path: Path):
    rows = "Ship,Crowns\nBarge,12\n"
    body = await asyncio.to_thread(made, tmp_path, "dues.csv", rows, "xls:MS Excel 97")
    assert "| Barge | 12 |" in await read(body)


@needs_libreoffice
async def test_a_damaged_file_is_said_to_be(tmp_path: Path):
    with pytest.raises(Unreadable, match="LibreOffice cannot read the Word file, which may be"):
        await read(storage("Root Entry", "WordDocument"))
