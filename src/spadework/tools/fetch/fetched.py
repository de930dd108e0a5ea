"""What fetching a URL gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Fetched:
    """An answer of a web server: the URL it came from after redirects, its body decoded from any
    content encoding.

    `media_type` is lower-case without parameters; `charset` is what the header names, or "".
    `from_cache`: it was kept from an earlier fetch, whose day is `dated`; `stale`: it may be out of
    date, since its server could not be reached now.
    """

    url: str
    status: int
    media_type: str
    charset: str
    body: bytes
    level: int = 0
    from_cache: bool = False
    stale: bool = False
    dated: datetime | None = None
