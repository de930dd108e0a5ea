"""Ctrl-C before there is a run to stop, and once it is left: told once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer

from spadework import Session, Settings
from spadework.apps import cli
from spadework.apps.exit import one_sentence
from spadework.apps.outputs import Output
from spadework.apps.terminal import live_run


def test_who_interrupts_a_command_that_only_begins_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()

    @app.command()
    def begins(words: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["spadework", "What?"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "spadework: interrupted.\n")


def test_it_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), one_sentence(), one_sentence():
        raise KeyboardInterrupt
    with pytest.raises(SystemExit), one_sentence():
        raise SystemExit(130)  # of who has told it
    assert capsys.readouterr().err == "spadework: interrupted.\n"


@contextmanager
def own_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def test_who_leaves_a_run_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session.start("What is the Quillon?", settings=Settings.load(home=tmp_path))
    app = typer.Typer()

    @app.command()
    def asks(words: list[str]) -> None:
        raise typer.Exit(live_run.run(session, Output()))

    async def left(run: live_run.Run) -> None:
        """Return no result, as after a second Ctrl-C."""

    monkeypatch.setattr(live_run.Run, "result", left)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["spadework", "What?"])
    with own_signals(), pytest.raises(SystemExit) as ended:
        cli.main()
    told = f"Interrupted. To resume, run: spadework resume {session.session_id}\n"
    assert (ended.value.code, capsys.readouterr().err) == (130, told)
