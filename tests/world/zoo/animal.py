"""What an animal of the zoo is: how a server behaves, and what a reader must get from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spadework.errors import FetchError
from tests.world.zoo.visit import Visit

Serve = Callable[[Visit], Awaitable[None]]

#: A certificate that is good, of an unknown maker, out of date, or for another name; "mute" accepts
#: and never shakes hands.
Tls = Literal["", "good", "self-signed", "expired", "wrong name", "mute"]


@dataclass(frozen=True)
class Read:
    """The page is read: `words` are in it, `without` is not."""

    words: tuple[str, ...]
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """The page is refused by exactly `error`, whose sentence says `says`."""

    error: type[FetchError]
    says: str


@dataclass(frozen=True)
class Animal:
    """One kind of server. `/` is what is read; `robots` answers /robots.txt (None: there is none).

    `seconds` is the deadline, `first_byte` that of the first byte, `settings` what else is set. At
    most `visits` requests may reach the server besides the one for robots.txt, and it can get rid
    of at most `sent` bytes.
    """

    name: str
    serve: Serve
    expect: Read | Refused
    robots: Serve | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 10.0
    first_byte: float = 20.0
    visits: int = 1
    sent: int = 16_000_000
    tls: Tls = ""
    protocols: tuple[str, ...] = ("http/1.1",)
    listens: bool = True


def read(*words: str, without: tuple[str, ...] = ()) -> Read:
    """Short for the table."""
    return Read(words, without)
