"""Settings for searching and for reading pages."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, Field, SecretStr, field_validator

from spadework.settings.environment import Cleaning, Country, Day, Listed, Sites, provider_alias
from spadework.values.question import LANGUAGE
from spadework.values.search import StatedKind


class Searching(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Providers, filters and limits of searches, and the ranking of hits."""

    # Search
    search: str = "auto"
    """Providers, separated by commas: auto, library, searxng, duckduckgo, serper, tavily, brave,
    arxiv, wikipedia, openalex, pubmed, mcp.
    """
    library: Listed[Path] = ()
    """Files and folders to search. Empty: the documentation installed with Python."""
    searxng_url: str = Field("", validation_alias=provider_alias("SEARXNG_URL"))
    """A SearXNG server with the JSON format enabled."""
    serper_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SPADEWORK_SERPER_API_KEY", "SERPER_API_KEY", "SERP_API_KEY"),
    )
    """API key of Serper. Also SERPER_API_KEY or SERP_API_KEY."""
    tavily_api_key: SecretStr | None = Field(
        None, validation_alias=provider_alias("TAVILY_API_KEY")
    )
    """API key of Tavily. Also TAVILY_API_KEY."""
    brave_api_key: SecretStr | None = Field(None, validation_alias=provider_alias("BRAVE_API_KEY"))
    """API key of Brave Search. Also BRAVE_API_KEY."""
    openalex_api_key: SecretStr | None = Field(
        None, validation_alias=provider_alias("OPENALEX_API_KEY")
    )
    """API key of OpenAlex (free); without it only a few searches a day. Also OPENALEX_API_KEY."""
    search_country: Country = ""
    """Country of the results, as two letters such as de or us. Empty: any."""
    search_language: str = Field("", pattern=LANGUAGE)
    """Language of the results, such as en or de. Empty: web search engines prefer the language of
    the question.
    """
    search_kinds: Listed[StatedKind] = ()
    """Read only these kinds of sources, separated by commas: paper, news, official, vendor, forum
    or own. With news alone, providers are asked for news.
    """
    search_sites: Sites = ()
    """Search only these domains, separated by commas, such as example.org; library://NAME/FOLDER
    for a part of the library.
    """
    search_avoid_sites: Sites = ()
    """Never use these domains, separated by commas."""
    search_since: Day = None
    """Earliest day of publication, as YYYY-MM-DD."""
    search_until: Day = None
    """Latest day of publication, as YYYY-MM-DD."""
    mcp_search: SecretStr | None = None
    """Search tools of MCP servers, as TOOL @ ADDRESS or TOOL @ COMMAND LINE, separated by
    semicolons. A command line may begin with variables for its process, such as KEY=value.
    """
    search_limits: dict[
        str, tuple[Annotated[float, Field(gt=0, le=1_000)], Annotated[int, Field(ge=1, le=100)]]
    ] = Field(default_factory=dict)
    """Maximum searches per second and at once, by provider, as JSON such as {"brave": [1, 1]}.
    Other providers: the limits they document.
    """

    # Ranking
    preset: Literal["default", "precise", "balanced", "recall"] = "default"
    """Number of hits to read and the relevance they need."""
    min_relevance: float | None = Field(None, ge=0, le=1)
    """Minimum relevance of a hit to be read, 0 to 1. Unset: that of the preset."""


class Reading(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Fetching, reading and cleaning of pages."""

    parallel_per_host: int = Field(2, ge=1, le=10)
    """Concurrent connections to one host, over all sessions of a process or, with a database, of
    all machines.
    """
    page_bytes: int = Field(10_000_000, ge=1_000)
    """Maximum size of a decoded page body, in bytes."""
    clean: Cleaning = "default"
    """How a model cleans pages that code finds dirty. A page is not cleaned from this cleanliness
    on, or below this number of characters: default: 0.7, 500. fast: 0.8, 1,000. quality: 0.6, 200.
    technical: as default, keeping commands. off: no cleaning.
    """
    cache_mb: int = Field(500, ge=0, le=1_000_000)
    """Maximum megabytes of cached pages on disk, for all sessions. 0: no cache."""
    max_level: int = Field(2, ge=0, le=2)
    """Last level tried for a page: 0 plain HTTP, 1 browser-like headers, 2 a browser.
    """
    chromium: str = ""
    """Path of the Chromium or Chrome to use for level 2. Empty: the first one found."""
    browser_sandbox: bool = True
    """Run Chromium in its sandbox, which root cannot use."""
    robots: bool = True
    """Honour robots.txt. Turn this off only for sites you own."""
    allow_hosts: Listed[str] = ()
    """Hosts, addresses and networks of your own (10.1.0.0/16) that the guard lets through,
    separated by commas.
    """
    user_agent: str = "spadework/0.1 (research assistant)"
    """User agent sent to web servers."""

    @field_validator("allow_hosts", mode="after")
    @classmethod
    def _with_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ip_network(word, strict=False)) if "/" in word else word for word in value)
