"""What fetching a URL gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Fetched:
    """An answer: its URL after redirects, its body without content encoding. `media_type` is
    lower-case, `charset` the header's or "". `from_cache`: kept from an earlier fetch, `dated`
    then; `stale`: maybe out of date, its server could not be reached.
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
