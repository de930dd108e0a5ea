"""How every server of the world receives a request: it is noted, answered, and let go of when the
client leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.world.record import Asked

T = TypeVar("T")


def asked(site: str, scope: Scope) -> Asked:
    """The record of the request of `scope`, begun now."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Asked(
        site, scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers
    )


async def attend(
    record: Asked,
    answer: Callable[[Asked], Coroutine[Any, Any, ASGIApp]],
    exchange: tuple[Scope, Receive, Send],
) -> None:
    """Read the body into `record`, then send what `answer` gives, unless the client leaves first;
    note when it was over.
    """
    scope, receive, send = exchange
    try:
        body = await _read_body(receive)
        if body is None:
            return
        record.body = body
        response = await _unless_gone(answer(record), receive)
        if response:
            await response(scope, receive, _noting(record, send))
    finally:
        record.end()


async def gone(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _unless_gone(work: Coroutine[Any, Any, T], receive: Receive) -> T | None:
    """The outcome of `work`, or None when the client left before."""
    task, leaving = asyncio.create_task(work), asyncio.create_task(gone(receive))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        leaving.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def _read_body(receive: Receive) -> bytes | None:
    """The body, None where the client has left before its end."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _noting(record: Asked, send: Send) -> Send:
    """`send`, which also notes status, size and end of the answer in `record`."""

    async def note(message: Message) -> None:
        if message["type"] == "http.response.start":
            record.status = message["status"]
        elif not message.get("more_body"):
            # Before the last piece is sent: the client may begin its next request as soon as it has
            # it.
            record.end()
        await send(message)
        record.sent += len(message.get("body", b""))

    return note
