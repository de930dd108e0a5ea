"""The home folder, for code that needs no other setting: settings are slow to load."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from spadework.errors import SettingsError

#: The environment variable, as read by the settings.
VARIABLE = "SPADEWORK_HOME"


def default_home() -> Path:
    """Return the default folder."""
    return Path(platformdirs.user_data_dir("spadework"))


def absolute(path: Path) -> Path:
    """Return an absolute path; `~` is expanded, and `~nobody` raises SettingsError."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        name = str(path)[:200]
        raise SettingsError(f"{name} is in the folder of no user of this machine.") from None


def home_of(given: Path | None) -> Path:
    """Return what `Settings.load(home=given).home` would be."""
    named = {name.upper(): value for name, value in os.environ.items()}.get(VARIABLE)
    return absolute(given or (default_home() if named is None else Path(named)))
