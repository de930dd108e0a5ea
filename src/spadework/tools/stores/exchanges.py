"""Exchanges with the outside world, byte for byte: requests, replies and their order."""

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
    """One thing that came: what is known of it, and its bytes."""

    head: dict[str, Any]
    body: bytes


@dataclass
class Tape:
    """What came in an exchange, in its order."""

    pieces: list[Piece] = field(default_factory=list)

    def add(self, head: dict[str, Any], body: bytes) -> None:
        """Take down one thing more."""
        self.pieces.append(Piece(head, body))

    @property
    def last(self) -> Piece:
        """What came last."""
        return self.pieces[-1]


@dataclass(frozen=True)
class Request:
    """A request: `content` (JSON) is what makes it the same; `about` says who asks."""

    kind: str
    content: Any
    about: str = ""

    @property
    def text(self) -> str:
        """The content as text."""
        return json.dumps(self.content, sort_keys=True, ensure_ascii=False)

    @property
    def key(self) -> str:
        """The digest under which its answer stands."""
        subject = f"{self.kind}\n{self.text}".encode(errors="surrogatepass")
        return hashlib.sha256(subject).hexdigest()


async def last_text(tape: Tape) -> str:
    """The text that came last."""
    return tape.last.body.decode(errors="surrogatepass")


T = TypeVar("T")
#: What is found on pages and in files; all else is small.
BULKY = frozenset({"page", "document", "attached", "known page", "earlier pages"})


class Row(NamedTuple):
    """An exchange. `tape` is None if its bytes were not kept; `error` is how it failed."""

    number: int
    tape: Tape | None
    error: str | None
    used: dict[str, float | None]
    elapsed: float

    def whole(self) -> Tape:
        """What came. Raises how the exchange has failed."""
        if self.error is not None:
            raise error_from_text(self.error)
        assert self.tape is not None
        return self.tape

    async def again(self, read: Callable[[Tape], Awaitable[T]]) -> T:
        """What `read` makes of what came; raises how it failed, where it cannot be read."""
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
    """A row of the journal cannot be read."""


class Exchanges:
    """The exchanges of a journal, with at most `most_bytes` of bulky bodies, packed."""

    def __init__(self, rows: JournalRows, most_bytes: float) -> None:
        self._rows = rows
        self._room = most_bytes

    async def measure(self) -> None:
        """Find out how much room earlier processes of the session have left."""
        self._room -= await self._rows.size()

    async def rows(self, key: str) -> list[Row]:
        """All exchanges under a key, the oldest first. Raises Damaged."""
        return [await self._row(found) for found in await self._rows.exchanges(key)]

    async def settled(self, key: str) -> Row | None:
        """The last exchange that answered or failed for good; None where it must be asked."""
        try:
            rows = [row for row in await self.rows(key) if _is_settled(row)]
        except Damaged:
            return None
        return rows[-1] if rows else None

    async def refused(self) -> str:
        """The limit that first could not pay for an exchange, "" where all could."""
        error = await self._rows.refused()
        return str(json.loads(error)[2]["what"]) if error else ""

    async def put(
        self,
        request: Request,
        tape: Tape,
        error: str | None,
        charged: Callable[[], tuple[str, float]],
    ) -> None:
        """Write down an exchange and its charge in one step. A body left by a crash is harmless."""
        pieces = [
            [piece.head, await self._body(piece.body, bulky=request.kind in BULKY)]
            for piece in tape.pieces
        ]
        packed = pack_bytes(request.text.encode(errors="surrogatepass"))
        await self._rows.put_exchange(
            ExchangeRow(request.key, request.kind, packed, json.dumps(pieces), error, *charged())
        )

    async def requests(self, kind: str) -> list[Any]:
        """The contents of all requests of a kind, those that cannot be read left out."""
        found = []
        for data in await self._rows.requests(kind):
            with suppress(ValueError, zstandard.ZstdError):
                found.append(json.loads(zstandard.decompress(data)))
        return found

    async def _body(self, body: bytes, *, bulky: bool) -> str:
        """The hash under which a body is kept, "" for one for which there is no room."""
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
            raise Damaged(f"row {number} of its exchanges is damaged") from None

    async def _unpacked(self, name: str) -> bytes:
        if (data := await self._rows.body(name)) is None:
            raise LookupError
        body = zstandard.decompress(data)
        if hashlib.sha256(body).hexdigest() != name:
            raise ValueError
        return body


def error_to_text(error: SpadeworkError | BudgetSpent) -> str:
    """An error as text: what it is, what it says, and what it knows."""
    said = "" if isinstance(error, BudgetSpent) else str(error)
    return json.dumps([type(error).__name__, said, vars(error)], default=_plain)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Value) else str(value)


def error_from_text(text: str) -> SpadeworkError | BudgetSpent:
    """The error that was told."""
    name, said, known = json.loads(text)
    if name == BudgetSpent.__name__:
        return BudgetSpent(known["what"])
    kind = next((kind for kind in _kinds(SpadeworkError) if kind.__name__ == name), SpadeworkError)
    error = kind.__new__(kind)
    SpadeworkError.__init__(error, said)
    # Earlier versions kept the hint alone of what an answer failed by.
    vars(error).update({"hint": known} if isinstance(known, str) else known)
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
    """Bytes as they are kept."""
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)
