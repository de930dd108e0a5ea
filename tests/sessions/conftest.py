"""A small library of notes about one town, and settings that search only it; or the world online
and a model.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.settings import Settings
from tests.sessions.followed import TOPICS
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

NOTES = {
    "quillon.md": (
        """# The Quillon

The Quillon is a wind-up radio that plays for 45 minutes after one winding. It was designed in Port Aldermere in 1931.

## How to use the Quillon

1. Open the crank at the back of the Quillon.
2. Turn the crank of the Quillon forty times.
3. Choose a station with the brass wheel of the Quillon.
"""  # noqa: E501
    ),
    "spring.md": (
        """# Springs of wind-up radios

The spring of a wind-up radio such as the Quillon is made of blue steel and lasts about twenty years. A worn spring of the Quillon shortens
its playing time.
"""  # noqa: E501
    ),
    "mercury-planet.md": (
        "# Mercury (planet)\n\nMercury is the smallest planet of the solar system and the closest"
        " one to the sun.\n"
    ),
    "mercury-element.md": (
        "# Mercury (element)\n\nMercury is a metal that is liquid at room temperature, with the"
        " symbol Hg.\n"
    ),
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def settings(notes: Path) -> Settings:
    return Settings.load(search="library", library=(notes,), minutes=2)


@pytest.fixture
def online(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    model.script("TurnAnswer", {"kind": "form", "language": ""})
    return Settings.load()
