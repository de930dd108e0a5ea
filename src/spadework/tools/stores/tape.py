"""What is asked, and what came in answer, byte for byte."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple


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
    """What is asked: `content` (JSON) is all that makes it the same as another; `about` says in a
    word who asks.
    """

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
        return digest(self.kind, self.text)


async def last_text(tape: Tape) -> str:
    """The text that came last."""
    return tape.last.body.decode(errors="surrogatepass")


def digest(kind: str, subject: str) -> str:
    """The key of what is kept for a subject."""
    return hashlib.sha256(f"{kind}\n{subject}".encode(errors="surrogatepass")).hexdigest()
