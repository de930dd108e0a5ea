"""Tokens on the command line: told once, kept as hashes, taken back at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spadework.apps.cli import app
from spadework.errors import SettingsError
from spadework.sessions.users import FILE, Tokens, User


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["tokens", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_a_token_is_printed_once_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    token = run("add", "Anna@example.org", "--scope", "read").strip()
    kept = (tmp_path / "home" / FILE).read_text()
    assert re.fullmatch(r"spw_[\w-]{43}", token)
    assert token not in kept
    assert token.removeprefix("spw_")[:12] not in kept
    assert (tmp_path / "home" / FILE).stat().st_mode & 0o077 == 0
    tokens = Tokens(tmp_path / "home")
    assert tokens.user_of(token) == User("anna@example.org", frozenset({"read"}))
    assert tokens.user_of(token[:-1]) is None
    assert tokens.user_of("") is None


def test_a_token_that_is_revoked_is_nobodys_and_the_last_leaves_the_door_closed(
    tmp_path: Path,
) -> None:
    mine, hers = run("add", "bob").strip(), run("add", "anna").strip()
    tokens = Tokens(tmp_path / "home")
    assert tokens.user_of(mine) == User("bob", frozenset({"read", "ask"}))
    id_ = run().split()[0]
    run("revoke", id_)
    assert (tokens.user_of(mine), tokens.user_of(hers) is not None) == (None, True)
    run("revoke", "anna")
    assert tokens.user_of(hers) is None
    assert tokens.any_user
    assert run() == ""


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "a.", "ä", "a" * 65, "a\nb", "."])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="must be 1 to 64 characters"):
        Tokens(tmp_path).add(name)
    assert not (tmp_path / FILE).exists()


def test_a_scope_there_is_not_and_a_token_there_is_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"A scope must be one of .*, not 'root'"):
        Tokens(tmp_path).add("anna", ["root"])
    with pytest.raises(SettingsError, match="There is no token or user 'anna'"):
        Tokens(tmp_path).revoke("anna")


def test_a_broken_file_lets_nobody_in(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token = tokens.add("anna")
    (tmp_path / FILE).write_text("[{")
    assert tokens.user_of(token) is None
    assert tokens.any_user
    with pytest.raises(SettingsError, match="cannot be read"):
        tokens.add("bob")
