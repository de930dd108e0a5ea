"""Settings that reach the test world, with a scripted model, and settings that search only some
notes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.settings import Settings
from tests.apps.mcp.serving import TOPICS
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

NOTE = (
    "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding. It was"
    " designed in Port Aldermere.\n\n## Use\n\nTo use the Quillon, turn the crank thirty times and"
    " set the dial to a station. Use it where there is no power.\n"
)


@pytest.fixture
def env(world: World, searx: Searx, model: Model) -> dict[str, str]:
    """The environment of a server in the test world; its model plays all roles."""
    play(model, TOPICS)
    return {**world.env, **searx.env, **model.env}


@pytest.fixture
def settings(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


@pytest.fixture
def notes(tmp_path: Path) -> dict[str, str]:
    """The environment of a server that has no model and searches one note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "quillon.md").write_text(NOTE)
    return {"SPADEWORK_LIBRARY": str(folder), "SPADEWORK_SEARCH": "library"}
