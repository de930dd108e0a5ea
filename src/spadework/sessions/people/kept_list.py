"""A short list read by every request and rarely changed: in a local file, changed by one process at
a time with changes visible at once, or in the settings' database for all servers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock
from pydantic import SecretStr, TypeAdapter, ValidationError

from spadework.backend import shared_backend
from spadework.errors import SettingsError
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import make_folder
from spadework.values import Value

Row = TypeVar("Row", bound=Value)

#: Version of a list that was never read.
UNKNOWN = -1


class ListFile(Generic[Row]):
    """The rows of a file."""

    def __init__(self, path: Path, rows: TypeAdapter[list[Row]]) -> None:
        self.path = path
        self._rows = rows
        self._seen: tuple[int, ...] = ()
        self._current: list[Row] = []

    @property
    def version(self) -> int:
        """Return the known version: constant, since the file itself is checked."""
        return 0

    @property
    def exists(self) -> bool:
        """Whether it was ever changed, even if it is empty now."""
        return self.path.exists()

    def take(self, version: int, rows: str) -> None:
        """Do nothing: the file itself is read."""

    def read(self) -> list[Row]:
        """Return all rows. Raises SettingsError if the file is damaged."""
        try:
            return self._rows.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValidationError):
            raise SettingsError(
                f"{self.path} cannot be read: nothing in it counts until it is mended."
            ) from None

    def current(self) -> list[Row]:
        """Return the current rows, reread if the file has changed; none if it is damaged."""
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
    def edit(self) -> Iterator[list[Row]]:
        """Yield the rows to change in place, then write them. Raises SettingsError if they are
        damaged.
        """
        make_folder(self.path.parent)
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600):
            rows = self.read()
            yield rows
            write_atomically(self.path, self._rows.dump_json(rows, indent=1))


def kept_list(
    path: Path, rows: TypeAdapter[list[Row]], database_url: SecretStr | None
) -> ListFile[Row]:
    """Return the list in the file at `path`, or in the database under its name."""
    if database_url is None:
        return ListFile(path, rows)
    table: ListFile[Row] = shared_backend().list_table(
        database_url.get_secret_value(), path.stem, rows, path
    )
    return table
