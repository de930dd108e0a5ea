"""A short list in a file, read by every request and changed by few: one process changes it at a
time, and what another has changed is seen at once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from spadework.errors import SettingsError
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import make_folder
from spadework.values import Value

Row = TypeVar("Row", bound=Value)


class ListFile(Generic[Row]):
    """The rows of a file."""

    def __init__(self, path: Path, rows: TypeAdapter[list[Row]]) -> None:
        self.path = path
        self._rows = rows
        self._seen: tuple[int, ...] = ()
        self._current: list[Row] = []

    #: What is read anew whenever the file has changed is told by nobody.
    version = 0

    @property
    def begun(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def take(self, version: int, rows: str) -> None:
        """Nothing: the file itself is looked at."""

    def read(self) -> list[Row]:
        """All rows. Raises SettingsError where the file is broken."""
        try:
            return self._rows.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            raise SettingsError(
                f"{self.path} cannot be read: nothing in it counts until it is mended."
            ) from None

    def current(self) -> list[Row]:
        """The rows by now, read anew where the file has changed; none where it is broken."""
        try:
            stat = self.path.stat()
        except OSError:
            return []
        now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if now != self._seen:
            try:
                self._current = self.read()
            except SettingsError as error:
                logging.getLogger(__name__).error("%s", error)
                self._current = []
            self._seen = now
        return self._current

    @contextmanager
    def changing(self) -> Iterator[list[Row]]:
        """The rows, to be changed in place; written down at the end. Raises SettingsError where the
        file is broken.
        """
        make_folder(self.path.parent)
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600):
            rows = self.read()
            yield rows
            write_atomically(self.path, self._rows.dump_json(rows, indent=1))
