"""Who may use a server, how much of it each may have, and what machines share."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator

from spadework.settings.kinds import Words


class Users(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Who may use a server, how much of it each may have, and what machines share."""

    # People
    user_header: str = ""
    """Header in which a reverse proxy names the user, such as `X-Forwarded-User`. Only from
    `trusted_proxies` is it believed.
    """
    trusted_proxies: Words = ()
    """Addresses and networks of the reverse proxies that name users, such as
    `127.0.0.1,10.0.0.0/24`. From them no client may come whose header they do not set.
    """
    common_home: Path | None = None
    """Where what concerns no user is kept: indexes of libraries, examinations of models. Unset: in
    `home`.
    """
    user_runs: int = Field(0, ge=0, le=10_000)
    """Most runs of one user at once; more of them wait in the queue. 0: any number."""
    user_money: float = Field(0, ge=0)
    """Most US dollars that the models of one user's runs cost in a day (UTC), where the price is
    known. 0: any amount.
    """

    # Machines
    database_url: SecretStr | None = None
    """PostgreSQL database of all machines, such as `postgresql://user:password@host/name`. Sessions
    are then run by `spadework worker` processes, and shown by any process; users and knowledge are
    there, too. Needs the extra `postgres`. Unset: files and SQLite, and each process runs its own.
    """

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _of_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        networks_of(value)
        return value


def networks_of(words: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return addresses and networks. Raises ValueError for a word that is neither."""
    return tuple(ip_network(word, strict=False) for word in words)
