"""What is searched, and how what is found is ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, Field, SecretStr
from pydantic_settings import NoDecode

from spadework.codes import LANGUAGE
from spadework.form import by_effort
from spadework.settings.environment import Country, Day, Sites, provider_alias


class Searching(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What is searched, and how what is found is ranked."""

    # Search
    search: str = "auto"
    """Providers, separated by commas: auto, library, searxng, duckduckgo, serper, tavily, brave,
    arxiv, wikipedia, openalex, pubmed, mcp.
    """
    library: Annotated[tuple[Path, ...], NoDecode] = ()
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
    search_news: bool = False
    """Search news only, where a provider supports it."""
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
    search_results: int = Field(
        default_factory=by_effort(quick=15, normal=15, deep=30), ge=1, le=100
    )
    """Hits requested per query. Unset: 15, deep 30."""
    search_seconds: float = Field(30, gt=0, le=600)
    """Maximum seconds to wait for one search."""
    health_seconds: float = Field(5.0, gt=0, le=120)
    """Maximum seconds to wait for anything that `doctor` and the settings page try."""

    # Ranking
    preset: Literal["default", "precise", "balanced", "recall"] = "default"
    """Number of hits to read and the relevance they need."""
    min_relevance: float | None = Field(None, ge=0, le=1)
    """Minimum relevance of a hit to be read, 0 to 1. Unset: that of the preset."""
    pages_per_domain: int = Field(3, ge=1, le=100)
    """Maximum pages of one domain in a topic while others wait."""
