"""A fresh environment with the wheel in it, as after `pip install`."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.release.wheel import ROOT, said

#: What the tests need beside the wheel; their versions stand in requirements.lock.
TOOLS = (
    "blockbuster",
    "hypothesis",
    "langgraph-cli[inmem]",
    "langgraph-sdk",
    "numpy",
    "openai",
    "pillow",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-xdist",
    "qdrant-client",
)
#: What a fresh environment has before anything is installed.
_BUNDLED = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")


@dataclass(frozen=True)
class Environment:
    """An environment in `folder`."""

    folder: Path

    def install(self, *named: str) -> None:
        """Install these, and what they need, in the versions of requirements.lock."""
        pip = (str(self.program("python")), "-m", "pip", "install", "-q")
        quiet = ("--disable-pip-version-check", "--no-warn-script-location")
        said(*pip, *quiet, "--constraint", str(ROOT / "requirements.lock"), *named)

    def run(self, *command: str, cwd: Path, **env: str) -> tuple[int, str, str]:
        """Exit code, output and messages of a program of the environment, run by somebody who has
        set nothing.
        """
        own = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        path = f"{self.program('python').parent}:{own['PATH']}"
        done = subprocess.run(
            [str(self.program(command[0])), *command[1:]],
            cwd=cwd,
            env={**own, "PATH": path, "HOME": str(cwd), **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    def megabytes(self) -> float:
        """What was installed takes, without pip and what came with it, in blocks of the disk."""
        [packages] = self.folder.glob("lib/python*/site-packages")
        own = [path for path in packages.iterdir() if not path.name.startswith(_BUNDLED)]
        files = (file for path in own for file in (path, *path.rglob("*")) if file.is_file())
        return sum(file.stat().st_blocks * 512 for file in files) / 2**20

    def program(self, name: str) -> Path:
        """A program of the environment."""
        return self.folder / "bin" / name


def fresh(interpreter: str, folder: Path, wheel: Path) -> Environment:
    """An environment of this interpreter with nothing but the wheel and what that asks for."""
    said(interpreter, "-m", "venv", str(folder))
    made = Environment(folder)
    made.install(str(wheel))
    return made
