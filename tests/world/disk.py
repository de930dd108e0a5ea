"""A small disk: a file system in memory that can be full, or read-only, where this machine lets one
be mounted.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """What is mounted at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def change(self, option: str) -> None:
        """Change it: `size=400k`, `ro`, `rw`."""
        _mount("-o", f"remount,{option}", self.folder)


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[SmallDisk]:
    """A disk of a size such as `400k` in place of a folder; the test is skipped where none can be
    mounted.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "none", folder)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small disk can be mounted here: {error}")
    try:
        yield SmallDisk(folder)
    finally:
        # Also where a process of the test still holds a file of it.
        subprocess.run(["umount", "--lazy", folder], check=True)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)
