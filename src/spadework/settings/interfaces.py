"""What `serve` and MCP answer with, and where sessions are kept."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator

from spadework.home import default_home
from spadework.settings.environment import Words


class Serving(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What `serve` and MCP answer with, and where sessions are kept."""

    # Serving
    token: SecretStr | None = None
    """Token that requests to `serve` must carry. Unset: none on this machine; one is made and
    printed when listening beyond it.
    """
    ask_token: bool = False
    """Require a token on this machine too, for the web page, MCP over HTTP and `/v1`: other users
    could reach the server.
    """
    serve_hosts: Words = ()
    """Host names that `serve` answers to, besides addresses and this machine's own name."""

    drain_seconds: float = Field(20, ge=0, le=86_400)
    """Seconds that runs may continue after SIGTERM to `serve` or `worker`. Nothing new is accepted
    meanwhile, and the next process takes up what is left.
    """

    # Sessions
    parallel_sessions: int = Field(
        default_factory=lambda: 8 * (os.cpu_count() or 1), ge=1, le=10_000
    )
    """Maximum sessions that run at once in a process; more wait in its queue, as they do when it
    may open no more files. Unset: 8 a core.
    """
    home: Path = Field(default_factory=default_home)
    """Folder for sessions and indexes."""


class Users(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Who may use a server, how much of it each may have, and what machines share."""

    # People
    user_header: str = ""
    """Header in which a reverse proxy names the user, such as `X-Forwarded-User`. Trusted only from
    `trusted_proxies`.
    """
    trusted_proxies: Words = ()
    """Addresses and networks of the reverse proxies that name users, such as
    `127.0.0.1,10.0.0.0/24`. No client may connect from them without the proxy setting its header.
    """
    common_home: Path | None = None
    """Folder for what belongs to no user: indexes of libraries, examinations of models. Unset:
    `home`.
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
    """Return addresses and networks. Raises ValueError for a word that is neither."""
    return tuple(ip_network(word, strict=False) for word in words)
