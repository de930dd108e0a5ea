"""Running code where system files say something else, such as which name server to ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def run(code: str, files: dict[str, str], folder: Path, *, timeout: float = 60) -> str:
    """What Python code prints in a mount namespace in which these files stand over the system's
    own.

    Skips the test where that is not allowed.
    """
    unshare = shutil.which("unshare")
    if not unshare or os.getuid() != 0:
        pytest.skip("needs to be root, to put other files in the place of the system's")
    script = "set -e\n"
    for number, (path, text) in enumerate(files.items()):
        (folder / str(number)).write_text(text)
        script += f"mount --bind {folder / str(number)} {path}\n"
    done = subprocess.run(
        [unshare, "-m", "sh", "-c", f'{script}exec "$@"', "sh", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"no mount namespace: {done.stderr.strip()[:100]}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
