"""Which of the browsers of a machine is taken for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser, choose_browser
from spadework.tools.web import chromium


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder that has programs."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    # Nothing but what is below the home.
    monkeypatch.setattr(chromium, "_PLACES", chromium._PLACES[2:])
    return tmp_path


def put(folder: Path, name: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_headless_shell_reads_and_the_whole_browser_prints(programs: Path) -> None:
    whole, shell = put(programs, "chromium"), put(programs, "chromium-headless-shell")
    assert choose_browser(Settings()) == shell
    assert chromium.installed_chromium() == whole, "for printing"


@pytest.mark.parametrize("only", ["chromium", "chromium-headless-shell"])
def test_one_that_is_alone_does_everything(programs: Path, only: str) -> None:
    path = put(programs, only)
    assert choose_browser(Settings()) == path
    assert Browser(Settings()).what_is_missing == ""


def test_the_third_level_of_earlier_versions_counts_as_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPADEWORK_MAX_LEVEL", "3")
    assert Settings.load().max_level == 2
    assert Settings(max_level=3).max_level == 2
    with pytest.raises(SettingsError, match="max_level"):
        Settings(max_level=4)


def test_one_that_is_named_does_everything(programs: Path) -> None:
    put(programs, "chromium-headless-shell")
    mine = put(programs, "mine")
    assert choose_browser(Settings(chromium=mine)) == mine


@pytest.mark.parametrize(
    "place", ["chrome-headless-shell-linux64/chrome-headless-shell", "chrome-linux/headless_shell"]
)
def test_the_one_that_playwright_installs_is_found(programs: Path, place: str) -> None:
    path = put(programs, f".cache/ms-playwright/chromium_headless_shell-1255/{place}")
    assert chromium.headless_shell() == path


def test_without_any_it_is_said_what_to_install(programs: Path) -> None:
    assert choose_browser(Settings()) == ""
    assert (
        "No Chromium is installed. To install it, run `apt install chromium`"
        in Browser(Settings()).what_is_missing
    )
