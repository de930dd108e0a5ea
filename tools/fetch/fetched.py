"""What fetching a URL gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fetched:
    """An answer of a web server: the URL it came from after redirects, its body decoded from any content encoding.

    `media_type` is lower-case without parameters; `charset` is what the header names, or "".
    """

    url: str
    status: int
    media_type: str
    charset: str
    body: bytes
    level: int = 0
