"""The Pythons of this machine: on the path, or of pyenv."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: One that can make an environment, and is the version it is asked for.
_ANSWERS = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"


def python(version: str) -> str:
    """The interpreter of a version such as 3.13, or "" where there is none."""
    return next((found for found in _candidates(version) if _is(found, version)), "")


def _candidates(version: str) -> Iterator[str]:
    if on_path := shutil.which(f"python{version}"):
        yield on_path
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True))


def _is(interpreter: str, version: str) -> bool:
    # What pyenv puts on the path fails where the version is not the chosen one.
    done = subprocess.run([interpreter, "-c", _ANSWERS], capture_output=True, text=True)
    return done.stdout.strip() == version
