"""What a library is made of and where its index lies: one place for the same sources and state."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spadework.tools.library.folders import collections, files
from spadework.tools.library.packages import installed_packages

#: Raise it when what is stored, or how texts are read or cut, changes.
FORMAT = 5
_FAMILY = re.compile(r"(?:installed|folders)-(\d+)-")


@dataclass(frozen=True)
class Plan:
    """A library to be opened: of `paths`, or of the installed documentation when there are none.

    `family` names the sources, `state` what they look like now; `words` describe them with %d for
    the number of documents.
    """

    paths: tuple[Path, ...]
    shelf: Path
    family: str
    state: str
    words: str

    @property
    def folder(self) -> Path:
        """Where its index lies, or will lie."""
        return self.shelf / f"{self.family}-{self.state}"

    @property
    def draft(self) -> Path:
        """Where one process at a time makes its index, going on with what a killed one left."""
        return self.shelf / f".draft-{self.family}"

    @property
    def relatives(self) -> list[Path]:
        """The folders of the same sources in other states, newest first."""
        others = [path for path in self.shelf.glob(f"{self.family}-*") if path != self.folder]
        return sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)

    @property
    def outdated(self) -> list[Path]:
        """The folders of former formats, which nobody can read any more."""
        return [
            path
            for path in self.shelf.iterdir()
            if (kind := _FAMILY.match(path.name)) and int(kind[1]) < FORMAT
        ]


def plan(paths: Sequence[Path], home: Path) -> Plan:
    """The plan for these paths now. Raises SettingsError for one missing or not to be read."""
    shelf = home / "library"
    if not paths:
        names = [place.stem for place in installed_packages()]
        count = f"{len(names)} installed Python packages"
        words = f"the documentation of {count} and the standard library"
        return Plan((), shelf, f"installed-{FORMAT}", _digest([sys.version, *names]), words)
    named = collections(paths)
    state = (f"{file.url} {file.size} {file.mtime}" for file in files(paths))
    family = f"folders-{FORMAT}-" + _digest([f"{name} {path}" for name, path in named.items()])
    *first, last = named
    kind = f"libraries {', '.join(first)} and" if first else "library"
    words = f"the {kind} {last} (%d documents)"
    return Plan(tuple(named.values()), shelf, family, _digest(state), words)


def _digest(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]
