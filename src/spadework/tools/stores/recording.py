"""A finished session as recorded, answered again without network and model."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from spadework.errors import FetchError, NotRecorded, SearchError, SpadeworkError
from spadework.tools.stores.exchanges import Damaged, Exchanges, Row
from spadework.tools.stores.journal_rows import JournalRows
from spadework.tools.stores.request_difference import difference
from spadework.tools.stores.sqlite_rows import SqliteRows
from spadework.tools.stores.tape import Request


@dataclass(frozen=True)
class Missing:
    """A request without a recorded answer: of which kind, by whom, and why."""

    kind: str
    who: str
    why: str

    def __str__(self) -> str:
        return f"{self.who}: {self.why}"


class Recording:
    """`replayed` and `new` count exchanges of a replay that were and were not recorded."""

    def __init__(self, rows: JournalRows) -> None:
        self._rows = rows
        self._exchanges = Exchanges(rows, 0)
        self._turns: Counter[str] = Counter()
        self.replayed = self.new = 0
        self.missing: list[Missing] = []

    @classmethod
    async def open(cls, path: Path) -> Self:
        """The recording in a session's file, which stays as it is. Raises sqlite3.Error."""
        return cls(await SqliteRows.read(path))

    async def aclose(self) -> None:
        """Close the file."""
        await self._rows.close()

    async def row(self, request: Request) -> Row:
        """A request's exchange, in order. Raises NotRecorded (model), SearchError, FetchError."""
        try:
            rows = await self._newest(await self._exchanges.rows(request.key))
        except Damaged as damaged:
            raise self._lacks(request, f"{damaged}.") from None
        if not rows:
            why = "it was not asked when the session was recorded."
            if request.kind == "model":
                why = difference(request.content, await self._exchanges.requests("model"))
            raise self._lacks(request, why)
        turn = min(self._turns[request.key], len(rows) - 1)
        row = rows[turn]
        self._turns[request.key] += 1
        if row.tape is None:
            why = "its bytes were not kept, since the session had no more room (SPADEWORK_RAW_MB)."
            raise self._lacks(request, why)
        self.replayed += 1
        return row

    async def noted(self, request: Request) -> Any:
        """What the session has noted of a moment, None where it has not."""
        try:
            rows = await self._exchanges.rows(request.key)
            return json.loads(rows[-1].tape.last.body) if rows and rows[-1].tape else None
        except (Damaged, ValueError):
            return None
        except sqlite3.OperationalError:  # a file from before there were any exchanges
            return None

    def asked_anew(self) -> None:
        """The request that was missing last has been answered by a model."""
        self.new += 1

    async def _newest(self, rows: list[Row]) -> list[Row]:
        """Those of the last process: who takes a run up asks again only what failed before."""
        if len(rows) < 2:
            return rows
        opened = await self._rows.opened_before(rows[-1].number)
        return [row for row in rows if row.number > opened]

    def _lacks(self, request: Request, why: str) -> SpadeworkError:
        lacking = Missing(request.kind, request.about or request.kind, why)
        self.missing.append(lacking)
        kinds: dict[str, type[SpadeworkError]] = {"model": NotRecorded, "search": SearchError}
        return kinds.get(request.kind, FetchError)(f"The replay has no answer: {why}")
