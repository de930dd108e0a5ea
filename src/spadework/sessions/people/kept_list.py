"""A short list that is read by every request and changed by few, wherever it is kept: in a file of
this machine, where one process changes it at a time and what another has changed is seen at once,
or for all servers in the database that the settings name.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from filelock import FileLock
from pydantic import SecretStr, TypeAdapter, ValidationError

from spadework.errors import SettingsError
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import make_folder
from spadework.values import Value

Row = TypeVar("Row", bound=Value)

#: The version of a list that was never looked at.
UNKNOWN = -1


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
        """Whether it was ever changed, also where nothing is left in it."""
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
        """The rows, changed in place, then written. Raises SettingsError where they are broken."""
        make_folder(self.path.parent)
        with FileLock(self.path.with_name(f".{self.path.name}.lock"), mode=0o600):
            rows = self.read()
            yield rows
            write_atomically(self.path, self._rows.dump_json(rows, indent=1))


class ListTable(Generic[Row]):
    """The rows of a list in the database; it has begun, too, where there is a file `before` it."""

    def __init__(self, url: str, name: str, rows: TypeAdapter[list[Row]], before: Path) -> None:
        self._url, self._name, self._rows = url, name, rows
        self._before = before
        self._known: tuple[int, list[Row]] | None = None

    @property
    def version(self) -> int:
        """The version that is known: 0 of a list that nobody has changed, UNKNOWN before any."""
        return self._known[0] if self._known else UNKNOWN

    @property
    def begun(self) -> bool:
        """Whether it was ever changed, here or there."""
        return self._seen()[0] > 0 or self._before.exists()

    def read(self) -> list[Row]:
        """All rows. Raises SettingsError where the database cannot be used."""
        from spadework.tools.stores.postgres.list_rows import read_list

        self.take(*read_list(self._url, self._name))
        return self.current()

    def current(self) -> list[Row]:
        """The rows as they were taken last."""
        return self._seen()[1]

    def take(self, version: int, rows: str) -> None:
        """Know what another process has kept."""
        self._known = version, self._rows.validate_json(rows)

    @contextmanager
    def changing(self) -> Iterator[list[Row]]:
        """The rows, changed in place and then kept. Raises SettingsError where that cannot be."""
        from spadework.tools.stores.postgres.list_rows import changed_list

        with changed_list(self._url, self._name) as held:
            rows = self._rows.validate_json(held.rows)
            yield rows
            held.rows = self._rows.dump_json(rows).decode()

    def _seen(self) -> tuple[int, list[Row]]:
        if self._known is None:
            self.read()
        assert self._known
        return self._known


KeptList = ListFile[Row] | ListTable[Row]


def kept_list(
    path: Path, rows: TypeAdapter[list[Row]], database_url: SecretStr | None
) -> KeptList[Row]:
    """The list of the file at `path`, or the one of its name in the database that is named."""
    if database_url is None:
        return ListFile(path, rows)
    return ListTable(database_url.get_secret_value(), path.stem, rows, path)
