"""What a server was asked: one record a request, kept at the server, so that tests can count at the
other end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs


@dataclass
class Asked:
    """One request. Times are on the clock of `time.monotonic`; `ended` and `status` are None while
    it waits for an answer.
    """

    site: str
    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    status: int | None = None
    sent: int = 0

    @property
    def args(self) -> dict[str, str]:
        """The arguments of the query, or of a form that was sent; the last one of a name counts."""
        given = self.query or self.body.decode("latin-1")
        return {
            name: values[-1] for name, values in parse_qs(given, keep_blank_values=True).items()
        }

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self.ended or time.monotonic()) - self.started

    def end(self) -> None:
        """Note that the answer is out, or that the client has left; the first time counts."""
        self.ended = self.ended or time.monotonic()
