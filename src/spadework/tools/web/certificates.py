"""The certificates of the system, read once: that takes as long as a search."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def certificates() -> ssl.SSLContext:
    """What checks the other side of every connection of this process by TLS."""
    return httpx.create_ssl_context()
