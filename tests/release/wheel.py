"""The wheel of what is committed, built as on a machine whose git knows no symbolic links."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def unlinked_clone(folder: Path) -> Path:
    """A clone of this repository in which every link is a file with its target in it."""
    said("git", "clone", "-q", "-c", "core.symlinks=false", str(ROOT), str(folder))
    return folder


def wheel_of(clone: Path, folder: Path) -> Path:
    """The wheel of a clone, in `folder`."""
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    said(*pip, "--wheel-dir", str(folder), str(clone))
    [wheel] = folder.glob("*.whl")
    return wheel


def said(*command: str) -> str:
    """What a command prints. One that fails is an AssertionError with all that it said."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout
