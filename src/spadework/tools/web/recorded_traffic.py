"""Record the traffic between a provider and its service on a tape, or replay it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from spadework.errors import SearchError
from spadework.tools.stores.exchanges import Piece, Tape

Send = Callable[[], Awaitable[Piece]]
_wire: ContextVar[Callable[[Any, Send], Awaitable[Piece]] | None] = ContextVar("wire", default=None)


async def over_the_wire(request: Any, send: Send) -> Piece:
    """Return the response of `send()`, recorded or replayed. `request` is JSON without keys."""
    wire = _wire.get()
    return await (wire(request, send) if wire else send())


def tape_traffic(tape: Tape) -> AbstractContextManager[None]:
    """Record all traffic in the context on the tape."""

    async def wire(request: Any, send: Send) -> Piece:
        piece = await send()
        tape.add({"request": request, **piece.head}, piece.body)
        return piece

    return _set(wire)


def replay_traffic(tape: Tape) -> AbstractContextManager[None]:
    """Answer all requests in the context from the tape."""

    async def wire(request: Any, send: Send) -> Piece:
        found = [piece for piece in tape.pieces if piece.head.get("request") == request]
        if not found:
            raise SearchError("The replay has no answer: the recorded request differs.")
        return found[-1]

    return _set(wire)


@contextmanager
def _set(wire: Callable[[Any, Send], Awaitable[Piece]]) -> Iterator[None]:
    token = _wire.set(wire)
    try:
        yield
    finally:
        _wire.reset(token)
