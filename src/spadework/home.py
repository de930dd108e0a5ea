"""Where sessions and indexes are kept, for who needs no other setting: they take long to load."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from spadework.errors import SettingsError

#: The variable of the environment, as the settings would read it.
VARIABLE = "SPADEWORK_HOME"


def default_home() -> Path:
    """The folder where none is named."""
    return Path(platformdirs.user_data_dir("spadework"))


def absolute(path: Path) -> Path:
    """A path as it is from everywhere; `~` is the user's folder, `~nobody` a SettingsError."""
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        name = str(path)[:200]
        raise SettingsError(f"{name} is in the folder of no user of this machine.") from None


def home_of(given: Path | None) -> Path:
    """What `Settings.load(home=given).home` would be."""
    named = {name.upper(): value for name, value in os.environ.items()}.get(VARIABLE)
    return absolute(given or (default_home() if named is None else Path(named)))
