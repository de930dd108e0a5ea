"""Ctrl-C before there is a run to stop."""

from __future__ import annotations

import sys

import pytest
import typer

from spadework.apps import cli
from spadework.apps.exit import one_sentence


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
