"""The Python sources of a package, read when they are asked for: most private modules never are."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from spadework.tools.library.exports import Module, is_private, survey

#: A longer source is generated.
MAX_CHARS = 2_000_000


class Sources:
    """The modules of a package by dotted name. A stub stands for a module that is compiled."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self.root = root
        self.files: dict[str, str] = {}
        self._read: dict[str, Module | None] = {}
        for file in sorted(files, key=lambda file: (file.endswith(".pyi"), file)):
            path = PurePosixPath(file)
            name = ".".join(
                (path.parent if path.stem == "__init__" else path.with_suffix("")).parts
            )
            if path.suffix in (".py", ".pyi") and name:
                self.files.setdefault(name, file)

    def public(self) -> Iterator[Module]:
        """Every module whose dotted name has no underscore, in order of their names."""
        for name in sorted(self.files):
            if not is_private(name) and (module := self.get(name)):
                yield module

    def get(self, name: str) -> Module | None:
        """A module; None when there is none, or it cannot be parsed or documents nothing."""
        if name not in self._read:
            file = self.files.get(name)
            self._read[name] = self._survey(name, file) if file else None
        return self._read[name]

    def _survey(self, name: str, file: str) -> Module | None:
        is_package = PurePosixPath(file).stem == "__init__"
        source = text_of(self.root / file)
        if (
            not source
            or len(source) > MAX_CHARS
            or not (is_package or '"""' in source or "'''" in source)
        ):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return survey(name, ast.parse(source), is_package)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # a template, or meant for another Python


def text_of(path: Path) -> str:
    """The text of a file, "" when it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
