"""Short lists in the database, read by all servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter

from spadework.machines.shared import shared_sessions
from spadework.sessions.people.kept_list import UNKNOWN, ListFile, Row
from spadework.settings import Settings


async def list_news(settings: Settings, known: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the lists that changed since the `known` versions. Raises SettingsError,
    DiskFailed.
    """
    async with shared_sessions(settings) as shared:
        from spadework.machines.postgres.list_rows import list_news as news_of

        return await news_of(shared.database, known)


class ListTable(ListFile[Row]):
    """The rows of a list in the database; a file `before` it also counts as begun."""

    def __init__(self, url: str, name: str, rows: TypeAdapter[list[Row]], before: Path) -> None:
        self._url, self._name, self._rows = url, name, rows
        self._before = before
        self._known: tuple[int, list[Row]] | None = None

    @property
    def version(self) -> int:
        """The known version: 0 for an unchanged list, UNKNOWN before reading."""
        return self._known[0] if self._known else UNKNOWN

    @property
    def exists(self) -> bool:
        """Whether it was ever changed, here or there."""
        return self._take_row()[0] > 0 or self._before.exists()

    def read(self) -> list[Row]:
        """Return all rows. Raises SettingsError if the database cannot be used."""
        from spadework.machines.postgres.list_rows import read_list

        self.take(*read_list(self._url, self._name))
        return self.current()

    def current(self) -> list[Row]:
        """Return the rows last read."""
        return self._take_row()[1]

    def take(self, version: int, rows: str) -> None:
        """Take over rows from the database."""
        self._known = version, self._rows.validate_json(rows)

    @contextmanager
    def edit(self) -> Iterator[list[Row]]:
        """Yield the rows to change in place, then store them. Raises SettingsError if that
        fails.
        """
        from spadework.machines.postgres.list_rows import changed_list

        with changed_list(self._url, self._name) as held:
            rows = self._rows.validate_json(held.rows)
            yield rows
            held.rows = self._rows.dump_json(rows).decode()

    def _take_row(self) -> tuple[int, list[Row]]:
        if self._known is None:
            self.read()
        assert self._known
        return self._known
