"""Settings for servers, users and machines, and for logs."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, Field, SecretStr, field_validator

from spadework.home import default_home
from spadework.settings.environment import Concern, Listed, LogLevel


class Serving(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings of `serve` and MCP, and the place where sessions are kept."""

    # Serving
    token: SecretStr | None = None
    """Token that requests to `serve` and MCP over HTTP must carry, on this machine too. Unset: none
    on this machine; one is made and printed when listening beyond it.
    """
    serve_hosts: Listed[str] = ()
    """Host names that `serve` answers to, besides addresses and this machine's own name."""

    drain_seconds: float = Field(20, ge=0, le=86_400)
    """Seconds that runs may continue after SIGTERM to `serve` or `worker`. Nothing new is accepted
    meanwhile, and the next process continues what is left.
    """

    # Sessions
    parallel_sessions: int = Field(
        default_factory=lambda: 8 * (os.cpu_count() or 1), ge=1, le=10_000
    )
    """Maximum sessions that run at once in a process; more wait in its queue, as they do when it
    may open no more files. Unset: 8 per core.
    """
    home: Path = Field(default_factory=default_home)
    """Folder for sessions and indexes."""


class Users(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Users of a server, the limits of each, and what machines share."""

    # People
    user_header: str = ""
    """Header in which a reverse proxy names the user, such as `X-Forwarded-User`. Trusted only from
    `trusted_proxies`.
    """
    trusted_proxies: Listed[str] = ()
    """Addresses and networks of the reverse proxies that name users, such as
    `127.0.0.1,10.0.0.0/24`. No client may connect from them without the proxy setting its header.
    """
    user_runs: int = Field(0, ge=0, le=10_000)
    """Maximum concurrent runs of one user; more wait in the queue. 0: no limit."""
    user_money: float = Field(0, ge=0)
    """Maximum US dollars for the models of one user's runs in a day (UTC), where the price is
    known. 0: no limit.
    """

    # Machines
    database_url: SecretStr | None = None
    """PostgreSQL database of all machines, such as `postgresql://user:password@host/name`.
    `spadework worker` processes then run the sessions, any process shows them, and users and
    knowledge are stored there too. Needs the extra `postgres`. Unset: files and SQLite, and each
    process runs its own sessions.
    """

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _of_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        networks_of(value)
        return value


def networks_of(words: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the words as addresses and networks. Raises ValueError for any other word."""
    return tuple(ip_network(word, strict=False) for word in words)


CONCERNS: tuple[Concern, ...] = get_args(Concern)
LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


class Observing(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """The logs of a run."""

    # Logs
    log: str = ""
    """What to log in `logs/` of a session, one file per concern: a level (debug, info, warning,
    error) for all, or for some (`search=debug,model=info`) of search, crawl, clean, model and
    orchestrator. Unset: nothing. Queries and reasons appear at debug only.
    """

    @field_validator("log", mode="after")
    @classmethod
    def _of_known_words(cls, value: str) -> str:
        levels_of(value)
        return value


def levels_of(log: str) -> dict[Concern, LogLevel]:
    """Return the level of each logged concern. Raises ValueError for an unknown word."""
    found: dict[Concern, LogLevel] = {}
    for word in filter(None, (word.strip() for word in log.split(","))):
        name, _, level = word.rpartition("=")
        known: LogLevel | None = next((o for o in LEVELS if o == level.strip().lower()), None)
        named: tuple[Concern, ...] = tuple(o for o in CONCERNS if o == name.strip().lower())
        asked = named if name else CONCERNS
        if known is None or not asked:
            raise ValueError(
                f"each part should be a level ({', '.join(LEVELS)}), or a concern"
                f" ({', '.join(CONCERNS)}) with a level, such as search=debug"
            )
        found |= dict.fromkeys(asked, known)
    return found
