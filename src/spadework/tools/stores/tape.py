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
