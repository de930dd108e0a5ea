"""Store requests with the exact bytes received in reply."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import zstandard

from spadework.errors import BudgetSpent, SpadeworkError
from spadework.tools.stores.journal_rows import ExchangeRow, FoundExchange, JournalRows
from spadework.values import Value


class Piece(NamedTuple):
    """One item received in reply to a request: its metadata (`head`) and its bytes."""

    head: dict[str, Any]
    body: bytes


@dataclass
class Tape:
    """The items received in an exchange (a request and its reply), in order."""

    pieces: list[Piece] = field(default_factory=list)

    def add(self, head: dict[str, Any], body: bytes) -> None:
        """Append a received item."""
        self.pieces.append(Piece(head, body))

    @property
    def last(self) -> Piece:
        """The last received item."""
        return self.pieces[-1]


@dataclass(frozen=True)
class Request:
    """A request, identified by its `kind` and `content` (JSON). `about` names it for the user."""

    kind: str
    content: Any
    about: str = ""

    @property
    def text(self) -> str:
        """The content as JSON text."""
        return json.dumps(self.content, sort_keys=True, ensure_ascii=False)

    @property
    def key(self) -> str:
        """The hash under which the request and its reply are stored."""
        subject = f"{self.kind}\n{self.text}".encode(errors="surrogatepass")
        return hashlib.sha256(subject).hexdigest()


async def last_text(tape: Tape) -> str:
    """Return the last received item of a tape, decoded as UTF-8."""
    return tape.last.body.decode(errors="surrogatepass")


T = TypeVar("T")
BULKY = frozenset({"page", "document", "attached", "known page", "earlier pages", "picture"})


class Row(NamedTuple):
    """A stored exchange. `tape` is None if not kept. `error` is from `error_to_text`, or None."""

    number: int
    tape: Tape | None
    error: str | None
    used: dict[str, float | None]
    elapsed: float

    def whole(self) -> Tape:
        """Return the received items, or raise the exchange's error."""
        if self.error is not None:
            raise error_from_text(self.error)
        assert self.tape is not None
        return self.tape

    async def reread(self, read: Callable[[Tape], Awaitable[T]]) -> T:
        """Return `read(tape)`, or raise the exchange's error. If the error is final and something
        was received, it is raised only if `read` fails too.
        """
        assert self.tape is not None
        if self.error is None:
            return await read(self.tape)
        error = error_from_text(self.error)
        readable = self.tape.pieces and getattr(error, "final", True)
        if isinstance(error, BudgetSpent) or not readable:
            raise error
        try:
            return await read(self.tape)
        except SpadeworkError:
            raise error from None


class Damaged(Exception):
    """A row of the journal is unreadable."""


#: Maximum total size in bytes of the compressed pages and files stored per session.
MOST_BYTES = 50e6


class Exchanges:
    """A journal's exchanges. Bodies of BULKY kinds, such as pages, total at most MOST_BYTES."""

    def __init__(self, rows: JournalRows) -> None:
        self._rows = rows
        self._room = MOST_BYTES

    async def measure(self) -> None:
        """Subtract the size of the stored bodies from the space left under MOST_BYTES."""
        self._room -= await self._rows.size()

    async def rows(self, key: str) -> list[Row]:
        """Return all exchanges under a key, oldest first. Raises Damaged."""
        return [await self._row(found) for found in await self._rows.exchanges(key)]

    async def settled(self, key: str) -> Row | None:
        """Return a key's last success or final failure. None: it has none, or a row is damaged."""
        try:
            rows = [row for row in await self.rows(key) if _is_settled(row)]
        except Damaged:
            return None
        return rows[-1] if rows else None

    async def refused(self) -> str:
        """Return the budget limit that first prevented an exchange, or "" if none did."""
        error = await self._rows.refused()
        return str(json.loads(error)[2]["what"]) if error else ""

    async def put(
        self,
        request: Request,
        tape: Tape,
        error: str | None,
        charged: Callable[[], tuple[str, float]],
    ) -> None:
        """Store an exchange with the usage (JSON) and run time (seconds) that `charged` returns."""
        pieces = [
            [piece.head, await self._body(piece.body, bulky=request.kind in BULKY)]
            for piece in tape.pieces
        ]
        packed = pack_bytes(request.text.encode(errors="surrogatepass"))
        await self._rows.put_exchange(
            ExchangeRow(request.key, request.kind, packed, json.dumps(pieces), error, *charged())
        )

    async def requests(self, kind: str) -> list[Any]:
        """Return the content of all stored requests of a kind, skipping damaged ones."""
        found = []
        for data in await self._rows.requests(kind):
            with suppress(ValueError, zstandard.ZstdError):
                found.append(json.loads(zstandard.decompress(data)))
        return found

    async def _body(self, body: bytes, *, bulky: bool) -> str:
        name, kept = await asyncio.to_thread(
            lambda: (hashlib.sha256(body).hexdigest(), pack_bytes(body))
        )
        if await self._rows.has_body(name):
            return name
        if bulky and len(kept) > self._room:
            return ""
        self._room -= len(kept) if bulky else 0
        await self._rows.put_body(name, kept)
        return name

    async def _row(self, found: FoundExchange) -> Row:
        number, pieces, error, used, elapsed = found
        try:
            listed, tape = json.loads(pieces), Tape()
            kept = all(name for _, name in listed)
            for head, name in listed if kept else ():
                tape.add(head, await self._unpacked(name))
            if error is not None:
                error_from_text(error)
            return Row(number, tape if kept else None, error, json.loads(used), float(elapsed))
        except (ValueError, TypeError, LookupError, zstandard.ZstdError, MemoryError):
            raise Damaged(f"row {number} of its recorded exchanges is damaged") from None

    async def _unpacked(self, name: str) -> bytes:
        if (data := await self._rows.body(name)) is None:
            raise LookupError
        body = zstandard.decompress(data)
        if hashlib.sha256(body).hexdigest() != name:
            raise ValueError
        return body


def error_to_text(error: SpadeworkError | BudgetSpent) -> str:
    """Serialize an error to JSON."""
    said = "" if isinstance(error, BudgetSpent) else str(error)
    return json.dumps([type(error).__name__, said, vars(error)], default=_plain)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Value) else str(value)


def error_from_text(text: str) -> SpadeworkError | BudgetSpent:
    """Parse the output of `error_to_text`."""
    name, said, known = json.loads(text)
    if name == BudgetSpent.__name__:
        return BudgetSpent(known["what"])
    kind = next((kind for kind in _kinds(SpadeworkError) if kind.__name__ == name), SpadeworkError)
    error = kind.__new__(kind)
    SpadeworkError.__init__(error, said)
    vars(error).update(known)
    return error


def _is_settled(row: Row) -> bool:
    if row.error is None:
        return row.tape is not None
    return bool(getattr(error_from_text(row.error), "final", False))


def _kinds(kind: type[SpadeworkError]) -> Iterator[type[SpadeworkError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


def pack_bytes(data: bytes) -> bytes:
    """Compress bytes with zstd."""
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)
