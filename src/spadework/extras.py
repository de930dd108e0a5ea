"""Install optional dependencies."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra from spadework's own folder. In a package index,
    the package of this name would be another project's.
    """
    return f'`pip install ".[{extra}]"` in the spadework folder'
