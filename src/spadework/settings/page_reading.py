"""How pages are fetched, read and cleaned."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from pydantic import BaseModel, Field, field_validator

from spadework.settings.kinds import Cleaning, Words


class Reading(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """How pages are fetched, read and cleaned."""

    parallel_pages: int = Field(5, ge=1, le=10)
    """Pages read at once, per topic."""
    parallel_per_host: int = Field(2, ge=1, le=10)
    """Connections at once to one host, of all sessions of a process or, with a database, of all
    machines.
    """
    page_seconds: float = Field(60, gt=0, le=600)
    """Longest wait for one page over all levels, in seconds."""
    page_bytes: int = Field(10_000_000, ge=1_000)
    """Largest page body, decoded, in bytes."""
    first_byte_seconds: float = Field(20, gt=0, le=600)
    """Longest wait for the first byte of an answer, in seconds."""
    clean: Cleaning = "default"
    """Cleaning by a model, of pages that code finds dirty: from which cleanliness on a page is left
    alone, and from how many characters it is looked at. default: 0.7, 500. fast: 0.8, 1,000.
    quality: 0.6, 200. technical: as default, with care for commands.
    """
    cache_mb: int = Field(500, ge=0, le=1_000_000)
    """Most megabytes of pages kept on disk for all sessions, by the rules of HTTP. 0: none."""
    raw_mb: int = Field(50, ge=0, le=100_000)
    """Most megabytes of pages and files that a session keeps as they came, packed, so that it can
    be replayed. 0: none.
    """
    min_level: int = Field(0, ge=0, le=2)
    """The level with which going after a page begins."""
    max_level: int = Field(2, ge=0, le=2)
    """How far a page is gone after: 0 plain HTTP, 1 headers like a browser's, 2 a browser. 3, which
    there was before, counts as 2.
    """
    chromium: str = ""
    """Path of the Chromium or Chrome for level 2. Empty: the first that is found."""
    browser_sandbox: bool = True
    """Run Chromium in its sandbox. As root it has none."""
    robots: bool = True
    """Honour robots.txt. Lift it only for sites you own."""
    allow_hosts: Words = ()
    """Hosts, addresses and networks (10.1.0.0/16) you own that the address guard lets through,
    separated by commas.
    """
    user_agent: str = "spadework/0.1 (research assistant)"
    """How spadework names itself to web servers."""

    @field_validator("min_level", "max_level", mode="before")
    @classmethod
    def _within_the_levels(cls, value: Any) -> Any:
        # Environments and stored sessions of earlier versions have a level 3.
        return 2 if str(value).strip() == "3" else value

    @field_validator("allow_hosts", mode="after")
    @classmethod
    def _with_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ip_network(word, strict=False)) if "/" in word else word for word in value)
