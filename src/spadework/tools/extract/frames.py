"""The frames in the pipes to reading processes: a JSON header, then bytes."""

from __future__ import annotations

import codecs
import json
import struct
from dataclasses import asdict
from datetime import datetime
from typing import IO, Any

from spadework.errors import Blocked, FetchError, TooLarge, TooSlow, Unreadable
from spadework.tools.extract.extracted import Extracted, Link

_LENGTHS = struct.Struct("!II")
#: Maximum length of a header; more means the stream is corrupt.
_MAX_HEADER = 500_000_000
#: Bytes decoded at a time, so that other threads can run.
_AT_ONCE = 1_000_000
_ERRORS = {error.__name__: error for error in (Blocked, TooLarge, TooSlow, Unreadable)}


def send(stream: IO[bytes], header: dict[str, Any], body: bytes = b"") -> None:
    """Write a frame."""
    head = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(head), len(body)) + head)
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read a frame. Raises EOFError where the stream ends or is corrupt."""
    head_length, body_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if head_length > _MAX_HEADER:
        raise EOFError
    try:
        header = json.loads(_exactly(stream, head_length))
    except ValueError:
        raise EOFError from None
    return header, _exactly(stream, body_length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError
    return found


def document_reply(found: Extracted) -> dict[str, Any]:
    """Return a reply that holds a document."""
    day = found.published_at.isoformat() if found.published_at else None
    return {"found": asdict(found) | {"published_at": day}}


def refusal_reply(error: FetchError) -> dict[str, Any]:
    """Return a reply that states why there is no document."""
    return {"error": type(error).__name__, "message": str(error)}


def split_reply(reply: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return a reply as a frame with its text after the header: long JSON would block all
    threads.
    """
    if "found" not in reply:
        return reply, b""
    found = dict(reply["found"])
    text: str = found.pop("markdown")
    return reply | {"found": found}, text.encode("utf-8", "surrogatepass")


def join_reply(header: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Return the reply in a frame."""
    if "found" not in header:
        return header
    parts = (body[start : start + _AT_ONCE] for start in range(0, len(body), _AT_ONCE))
    text = "".join(codecs.iterdecode(parts, "utf-8", "surrogatepass"))
    return header | {"found": header["found"] | {"markdown": text}}


def answer(header: dict[str, Any]) -> Extracted:
    """Return the document of a reply. Raises the FetchError it holds instead."""
    if "found" not in header:
        raise _ERRORS.get(header["error"], Unreadable)(header["message"])
    found = header["found"]
    published_at = datetime.fromisoformat(found["published_at"]) if found["published_at"] else None
    return Extracted(
        **found
        | {"published_at": published_at, "links": tuple(Link(**link) for link in found["links"])}
    )
