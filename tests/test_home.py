"""Where sessions are kept is read without the other settings, and as they read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.home import home_of
from spadework.settings import Settings


@pytest.mark.parametrize("given", [None, Path("there"), Path("~/there"), Path()])
@pytest.mark.parametrize("name", ["SPADEWORK_HOME", "spadework_home"])
@pytest.mark.parametrize("value", [None, "", "kept", "~/kept", "/kept"])
def test_the_home_is_the_one_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, given: Path | None, name: str, value: str | None
) -> None:
    monkeypatch.delenv("SPADEWORK_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    assert home_of(given) == Settings.load(home=given).home
