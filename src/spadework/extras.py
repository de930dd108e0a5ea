"""Install optional dependencies."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra from spadework's own folder.
    A package of that name in an index would be another project's.
    """
    return f'`pip install ".[{extra}]"` in the spadework folder'
