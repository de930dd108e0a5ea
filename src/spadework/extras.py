"""Optional dependencies: the extras."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, for a hint. It installs from spadework's folder,
    so that no package of that name in an index is used.
    """
    return f'`pip install ".[{extra}]"` in the folder of spadework'
