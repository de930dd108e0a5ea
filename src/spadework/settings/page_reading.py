"""How pages are fetched, read and cleaned."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from pydantic import BaseModel, Field, field_validator

from spadework.settings.environment import Cleaning, Words


class Reading(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """How pages are fetched, read and cleaned."""

    parallel_pages: int = Field(5, ge=1, le=10)
    """Pages read concurrently per topic."""
    parallel_per_host: int = Field(2, ge=1, le=10)
    """Concurrent connections to one host, over all sessions of a process or, with a database, of
    all machines.
    """
    page_seconds: float = Field(60, gt=0, le=600)
    """Maximum seconds to wait for one page, over all levels."""
    page_bytes: int = Field(10_000_000, ge=1_000)
    """Maximum size of a decoded page body, in bytes."""
    first_byte_seconds: float = Field(20, gt=0, le=600)
    """Maximum seconds to wait for the first byte of a response."""
    clean: Cleaning = "default"
    """Cleaning by a model of pages that code finds dirty: the cleanliness from which a page is left
    alone, and the characters below which it is. default: 0.7, 500. fast: 0.8, 1,000. quality: 0.6,
    200. technical: as default, keeping commands. off: none.
    """
    cache_mb: int = Field(500, ge=0, le=1_000_000)
    """Maximum megabytes of cached pages on disk, for all sessions. 0: no cache."""
    raw_mb: int = Field(50, ge=0, le=100_000)
    """Maximum megabytes of raw pages and files, compressed, that a session keeps for replaying. 0:
    none.
    """
    min_level: int = Field(0, ge=0, le=2)
    """First level tried for a page."""
    max_level: int = Field(2, ge=0, le=2)
    """Last level tried for a page: 0 plain HTTP, 1 browser-like headers, 2 a browser. 3, which no
    longer exists, counts as 2.
    """
    chromium: str = ""
    """Path of the Chromium or Chrome for level 2. Empty: the first one found."""
    browser_sandbox: bool = True
    """Run Chromium in its sandbox. As root there is none."""
    robots: bool = True
    """Honour robots.txt. Turn this off only for sites you own."""
    allow_hosts: Words = ()
    """Hosts, addresses and networks of your own (10.1.0.0/16) that the guard lets through,
    separated by commas.
    """
    user_agent: str = "spadework/0.1 (research assistant)"
    """User agent sent to web servers."""

    @field_validator("min_level", "max_level", mode="before")
    @classmethod
    def _within_the_levels(cls, value: Any) -> Any:
        # Environments and stored sessions of earlier versions have a level 3.
        return 2 if str(value).strip() == "3" else value

    @field_validator("allow_hosts", mode="after")
    @classmethod
    def _with_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ip_network(word, strict=False)) if "/" in word else word for word in value)
