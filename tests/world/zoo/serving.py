"""The ways in which animals answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tests.world.zoo.animal import Serve
from tests.world.zoo.visit import Visit

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def http(
    body: bytes | str,
    *headers: str | bytes,
    status: str = "200 OK",
    media_type: str = "text/html; charset=utf-8",
) -> bytes:
    """A whole answer with the length of its body, unless a header tells otherwise; no Content-Type
    for an empty `media_type`.
    """
    body = body.encode() if isinstance(body, str) else body
    lines = [
        f"HTTP/1.1 {status}".encode(),
        *(line.encode() if isinstance(line, str) else line for line in headers),
    ]
    names = {line.partition(b":")[0].lower() for line in lines}
    lines += [f"Content-Type: {media_type}".encode()] if media_type else []
    lines += (
        []
        if names & {b"content-length", b"transfer-encoding"}
        else [f"Content-Length: {len(body)}".encode()]
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(*chunks: bytes) -> bytes:
    """A body in chunks, with its end."""
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def says(*pieces: bytes) -> Serve:
    """Sends the pieces and closes the connection."""

    async def serve(visit: Visit) -> None:
        for piece in pieces:
            await visit.send(piece)

    return serve


def paths(answers: Mapping[str, bytes]) -> Serve:
    """Another answer for each path."""

    async def serve(visit: Visit) -> None:
        await visit.send(answers.get(visit.path.partition("?")[0], NOT_FOUND))

    return serve


def in_turn(*answers: bytes) -> Serve:
    """Another answer each time; the last one again and again."""

    async def serve(visit: Visit) -> None:
        await visit.send(answers[min(visit.times, len(answers)) - 1])

    return serve


def mute(*pieces: bytes) -> Serve:
    """Sends the pieces, then nothing more, and stays."""

    async def serve(visit: Visit) -> None:
        await says(*pieces)(visit)
        await visit.gone()

    return serve


def endless(head: bytes, piece: bytes) -> Serve:
    """Sends `head`, and then `piece` until the client leaves."""

    async def serve(visit: Visit) -> None:
        await visit.send(head)
        while True:
            await visit.send(piece)
            await asyncio.sleep(0)

    return serve


def drips(head: bytes, body: bytes, *, seconds: float, step: int = 1) -> Serve:
    """Sends `head`, and then `step` bytes of `body` every so many seconds."""

    async def serve(visit: Visit) -> None:
        await visit.send(head)
        for start in range(0, len(body), step):
            await asyncio.sleep(seconds)
            await visit.send(body[start : start + step])

    return serve


def later(serve: Serve, seconds: float) -> Serve:
    """The same, but every answer begins late."""

    async def late(visit: Visit) -> None:
        await asyncio.sleep(seconds)
        await serve(visit)

    return late
