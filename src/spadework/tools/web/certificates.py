"""Whom connections trust: the certificates of the system, which take as long to read as a search
takes, and so are read once.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def certificates() -> ssl.SSLContext:
    """What checks the other side of every connection of this process by TLS."""
    return httpx.create_ssl_context()
