"""Find the home folder without loading the settings, because loading them is slow."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from spadework.errors import SettingsError

VARIABLE = "SPADEWORK_HOME"


def default_home() -> Path:
    """Return the default home folder."""
    return Path(platformdirs.user_data_dir("spadework"))


def absolute(path: Path) -> Path:
    """Return an absolute path, expanding `~`. Raises SettingsError for an unknown user."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        name = str(path)[:200]
        raise SettingsError(f"The user named in {name} does not exist on this machine.") from None


def home_of(given: Path | None) -> Path:
    """Return the home folder that `Settings.load(home=given)` would use."""
    named = {name.upper(): value for name, value in os.environ.items()}.get(VARIABLE)
    return absolute(given or (default_home() if named is None else Path(named)))
