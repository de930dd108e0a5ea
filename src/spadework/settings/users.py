"""Who may use a server, and how much of it each may have."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from pydantic import BaseModel, Field, field_validator

from spadework.settings.kinds import Words


class Users(BaseModel, defer_build=True):
    """Who may use a server, and how much of it each may have."""

    # People
    user_header: str = Field(
        "",
        description=(
            "Header in which a reverse proxy names the user, such as `X-Forwarded-User`. Only from"
            " `trusted_proxies` is it believed."
        ),
    )
    trusted_proxies: Words = Field(
        (),
        description=(
            "Addresses and networks of the reverse proxies that name users, such as"
            " `127.0.0.1,10.0.0.0/24`. From them no client may come whose header they do not set."
        ),
    )
    common_home: Path | None = Field(
        None,
        description=(
            "Where what concerns no user is kept: indexes of libraries, examinations of models."
            " Unset: in `home`."
        ),
    )
    user_runs: int = Field(
        0,
        ge=0,
        le=10_000,
        description="Most runs of one user at once; more of them wait in the queue. 0: any number.",
    )
    user_tokens: int = Field(
        0,
        ge=0,
        description=(
            "Most tokens in and out that the models of one user's runs take in a day (UTC). 0: any"
            " number."
        ),
    )
    user_money: float = Field(
        0,
        ge=0,
        description=(
            "Most US dollars that the models of one user's runs cost in a day (UTC), where the"
            " price is known. 0: any amount."
        ),
    )

    @field_validator("trusted_proxies", mode="after")
    @classmethod
    def _of_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        networks_of(value)
        return value


def networks_of(words: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses and networks. Raises ValueError for a word that is neither."""
    return tuple(ip_network(word, strict=False) for word in words)
