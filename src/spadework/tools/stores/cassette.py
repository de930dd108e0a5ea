"""Replay a finished session from its recording, offline."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from spadework.errors import FetchError, NotRecorded, SearchError, SpadeworkError
from spadework.tools.stores.exchanges import Damaged, Exchanges, Request, Row
from spadework.tools.stores.journal_rows import JournalRows
from spadework.tools.stores.session_database import SqliteRows

BEFORE, AFTER = 20, 60
_NAMES = {"system": "system message", "human": "user message", "ai": "earlier answer"}


def difference(sent: dict[str, Any], recorded: Sequence[dict[str, Any]]) -> str:
    """Describe how a request differs from the most similar recorded one."""
    same = [other for other in recorded if other.get("shape") == sent["shape"]]
    if not same:
        return f"no request for {sent['shape']} was recorded."
    nearest = max(same, key=lambda other: _likeness(sent, other))
    pairs = zip(_parts(sent), _parts(nearest), strict=False)
    said = " ".join(filter(None, (_describe_difference(*pair) for pair in pairs)))
    return said or "the request has a different number of messages than the recorded one."


def _likeness(sent: dict[str, Any], other: dict[str, Any]) -> tuple[int, int]:
    pairs = list(zip(_parts(sent), _parts(other), strict=False))
    same = sum(mine == theirs for mine, theirs in pairs)
    return same, sum(_shared_prefix(mine[1], theirs[1]) for mine, theirs in pairs)


def _parts(request: dict[str, Any]) -> list[tuple[str, str]]:
    schema = json.dumps(request["schema"], sort_keys=True)
    told = ((_NAMES.get(kind, str(kind)), text) for kind, text in request["messages"])
    asked = (("model", str(request["model"])), ("method", str(request["method"])))
    return [*asked, ("schema", schema), *told]


def _describe_difference(mine: tuple[str, str], theirs: tuple[str, str]) -> str:
    name, now = mine
    before = theirs[1]
    if now == before:
        return ""
    at = _shared_prefix(now, before)
    return f"the {name} differs at {_near(now, at)}; the recording has {_near(before, at)}."


def _shared_prefix(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _near(text: str, at: int) -> str:
    return f"“{' '.join(text[max(0, at - BEFORE) : at + AFTER].split())}”"


@dataclass(frozen=True)
class Missing:
    """A request that the recording cannot answer: its display name `who`, and the reason `why`."""

    kind: str
    who: str
    why: str

    def __str__(self) -> str:
        return f"{self.who}: {self.why}"


class Recording:
    """Replays a recorded session, and counts replayed and new requests."""

    def __init__(self, rows: JournalRows) -> None:
        self._rows = rows
        self._exchanges = Exchanges(rows)
        self._turns: Counter[str] = Counter()
        self.replayed = self.new = 0
        self.missing: list[Missing] = []

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open a session's recording, read-only. Raises sqlite3.Error."""
        return cls(await SqliteRows.read(path))

    async def aclose(self) -> None:
        """Close the file."""
        await self._rows.close()

    async def row(self, request: Request) -> Row:
        """Return the next recorded exchange for a request. If there is none, raise NotRecorded,
        SearchError or FetchError, depending on the request's kind.
        """
        try:
            rows = await self._newest(await self._exchanges.rows(request.key))
        except Damaged as damaged:
            raise self._lacks(request, f"{damaged}.") from None
        if not rows:
            why = "this request was not made when the session was recorded."
            if request.kind == "model":
                why = difference(request.content, await self._exchanges.requests("model"))
            raise self._lacks(request, why)
        turn = min(self._turns[request.key], len(rows) - 1)
        row = rows[turn]
        self._turns[request.key] += 1
        if row.tape is None:
            why = "the answer was not stored because the session had reached its size limit."
            raise self._lacks(request, why)
        self.replayed += 1
        return row

    async def noted(self, request: Request) -> Any:
        """Return the value recorded for a request, or None."""
        try:
            rows = await self._exchanges.rows(request.key)
            return json.loads(rows[-1].tape.last.body) if rows and rows[-1].tape else None
        except (Damaged, ValueError):
            return None
        except sqlite3.OperationalError:  # an exported session comes without a recording
            return None

    def asked_anew(self) -> None:
        """Count a request that a model answered because the recording could not."""
        self.new += 1

    async def _newest(self, rows: list[Row]) -> list[Row]:
        """Keep only the rows of the session's last process, because it repeated failed requests."""
        if len(rows) < 2:
            return rows
        opened = await self._rows.opened_before(rows[-1].number)
        return [row for row in rows if row.number > opened]

    def _lacks(self, request: Request, why: str) -> SpadeworkError:
        lacking = Missing(request.kind, request.about or request.kind, why)
        self.missing.append(lacking)
        kinds: dict[str, type[SpadeworkError]] = {"model": NotRecorded, "search": SearchError}
        return kinds.get(request.kind, FetchError)(f"The recording has no answer: {why}")
