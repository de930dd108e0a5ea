"""What is installed beside the package itself, for those who want it: the extras."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """The command that installs an extra, as a hint names it. Spadework is installed from its
    folder, so that no package of an index is taken for it.
    """
    return f'`pip install ".[{extra}]"` in the folder of spadework'
