"""A library small enough to know by heart."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with one note."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "quillon.md").write_text(
        "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding. It"
        " was designed in Port Aldermere.\n\n## Use\n\nTo use the Quillon, turn the crank thirty"
        " times and set the dial to a station. Use it where there is no power.\n"
    )
    return folder
