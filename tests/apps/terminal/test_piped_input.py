"""Standard input as material: pipes of every kind, and those on which nothing comes."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.apps.terminal import question_input as piping
from spadework.apps.terminal.question_input import Material, material
from spadework.errors import SettingsError
from tests.apps.process import Terminal

pytestmark = pytest.mark.process

NOTES = (
    "The Zembla lock is a gate that keeps the tide out of the old harbour of Port Aldermere. It was"
    " rebuilt in 1951.\n\nTo use the Zembla lock, call the keeper an hour before high water and"
    " wait at the green buoy.\n"
)


class Pipe:
    """A pipe as standard input of this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(piping, "FIRST_BYTE_SECONDS", 0.2)
        monkeypatch.setattr(piping, "SILENCE_SECONDS", 0.3)
        reading, self._writing = os.pipe()
        self.stdin = os.fdopen(reading)
        monkeypatch.setattr(sys, "stdin", self.stdin)
        self.told: list[str] = []

    def send(self, data: bytes, *, end: bool = True) -> None:
        os.write(self._writing, data)
        if end:
            self.end()

    def end(self) -> None:
        if self._writing >= 0:
            os.close(self._writing)
        self._writing = -1

    def read(
        self, *, most: int = 10_000, asked_for: bool = False, minutes: float = 10
    ) -> Material | None:
        return material(most=most, minutes=minutes, asked_for=asked_for, tell=self.told.append)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    made = Pipe(monkeypatch)
    yield made
    made.end()
    made.stdin.close()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (NOTES.encode(), "stdin.txt"),
        (b"<!doctype html><title>A</title><p>b", "stdin.html"),
        (b"%PDF-1.7\n", "stdin.pdf"),
        ("Grüße".encode("utf-16"), "stdin.txt"),
    ],
)
def test_what_it_is_its_first_bytes_say(pipe: Pipe, body: bytes, name: str) -> None:
    pipe.send(body)
    assert pipe.read() == Material(name, body)
    assert not pipe.told


@pytest.mark.parametrize("body", [b"", b"\n", b" \t\n"])
def test_nothing_is_no_material(pipe: Pipe, body: bytes) -> None:
    pipe.send(body)
    assert pipe.read() is None
    assert not pipe.told


@pytest.mark.timed
def test_a_pipe_on_which_nothing_comes_is_left_alone_with_a_notice(pipe: Pipe) -> None:
    began = time.monotonic()
    assert pipe.read() is None
    assert 0.2 <= time.monotonic() - began < 2
    assert "Nothing arrived" in pipe.told[0]


def test_a_pipe_that_does_not_end_gives_what_came_with_a_notice(pipe: Pipe) -> None:
    pipe.send(NOTES.encode(), end=False)
    assert pipe.read() == Material("stdin.txt", NOTES.encode())
    assert f"Using the {len(NOTES)} bytes that arrived" in pipe.told[0]


@pytest.mark.timed
def test_silence_is_waited_out_where_it_was_asked_for_but_not_past_half_of_the_time(
    pipe: Pipe,
) -> None:
    began = time.monotonic()
    assert pipe.read(asked_for=True, minutes=0.02) is None
    assert 0.55 <= time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"x" * 10_001, "more than 10000 bytes"),
        (b"\x7fELF\x02\x01", "x-executable"),
        (bytes(500), "binary"),
    ],
)
def test_what_cannot_be_read_is_refused(pipe: Pipe, body: bytes, named: str) -> None:
    pipe.send(body)
    with pytest.raises(SettingsError, match=named):
        pipe.read()


def test_a_file_and_a_socket_are_material(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "n").write_text(NOTES)
    near, far = socket.socketpair()
    far.sendall(NOTES.encode())
    far.close()
    with (tmp_path / "n").open() as file, near, near.makefile() as stream:
        for stdin in (file, stream):
            monkeypatch.setattr(sys, "stdin", stdin)
            assert pipe.read() == Material("stdin.txt", NOTES.encode())


def test_a_terminal_and_no_input_at_all_hold_no_material(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = os.openpty()
    with os.fdopen(slave) as terminal, Path(os.devnull).open() as null:
        for stdin in (terminal, null, None, io.StringIO(NOTES)):
            monkeypatch.setattr(sys, "stdin", stdin)
            assert pipe.read() is None
    os.close(master)
    assert not pipe.told


def test_notes_that_are_piped_in_are_read_first_and_kept_with_the_session(
    notes: Path, tmp_path: Path
) -> None:
    terminal = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    code, out, err = terminal.piped(NOTES, "What is the Zembla lock?", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert any(source["url"] == "library://attached/1-stdin.txt" for source in result["sources"])
    assert "a gate that keeps the tide out of the old harbour" in result["report"]
    assert (Path(result["session_dir"]) / "material" / "stdin.txt").read_text() == NOTES


@pytest.mark.full
def test_an_open_pipe_holds_nobody_up(notes: Path, tmp_path: Path) -> None:
    terminal = Terminal({"SPADEWORK_LIBRARY": str(notes), "SPADEWORK_SEARCH": "library"}, tmp_path)
    with terminal.start("What is the Quillon?", stdin=subprocess.PIPE) as process:
        # Nobody writes, and nobody closes it: as under cron, CI and ssh.
        assert process.stdout
        assert process.stdout.read().startswith("# What is the Quillon?")
        assert process.wait(30) == 0
        assert process.stderr
        assert "Nothing arrived" in process.stderr.read()


def test_too_much_is_one_sentence_before_anything_is_searched(notes: Path, tmp_path: Path) -> None:
    terminal = Terminal(
        {
            "SPADEWORK_LIBRARY": str(notes),
            "SPADEWORK_SEARCH": "library",
            "SPADEWORK_PAGE_BYTES": "2000",
        },
        tmp_path,
    )
    code, out, err = terminal.piped("x" * 100_000, "What is the Quillon?")
    assert (code, out) == (2, "")
    assert "more than 2000 bytes" in err
    assert not (Path(terminal.env["SPADEWORK_HOME"]) / "sessions").exists()
