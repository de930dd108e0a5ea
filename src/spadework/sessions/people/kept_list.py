"""A short list that is read by every request and changed by few, wherever it is kept: in a file of
this machine, or for all servers in the database that the settings name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import SecretStr, TypeAdapter

from spadework.sessions.people.list_file import ListFile
from spadework.values import Value

Row = TypeVar("Row", bound=Value)

#: The version of a list that was never looked at.
UNKNOWN = -1


class KeptList(Protocol[Row]):
    """The rows."""

    @property
    def begun(self) -> bool:
        """Whether it was ever changed, also where nothing is left in it."""
        ...

    def read(self) -> list[Row]:
        """All rows. Raises SettingsError where they cannot be read."""
        ...

    def current(self) -> list[Row]:
        """The rows by now: of a file as it is, of the database since it was last looked at."""
        ...

    def changing(self) -> AbstractContextManager[list[Row]]:
        """The rows, to be changed in place; kept at the end. Raises SettingsError where that cannot
        be.
        """
        ...

    def take(self, version: int, rows: str) -> None:
        """Know what another process has kept."""
        ...

    @property
    def version(self) -> int:
        """The version that is known, of a list in the database."""
        ...


class ListTable(Generic[Row]):
    """The rows of a list in the database. `before` is the file in which this machine kept it
    without one: where it is, the list has begun.
    """

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
        """The rows, to be changed in place; kept at the end. Raises SettingsError where the
        database cannot be used.
        """
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


def kept_list(
    path: Path, rows: TypeAdapter[list[Row]], database_url: SecretStr | None
) -> KeptList[Row]:
    """The list of the file at `path`, or where a database is named the one that bears its name
    there.
    """
    if database_url is None:
        return ListFile(path, rows)
    return ListTable(database_url.get_secret_value(), path.stem, rows, path)
