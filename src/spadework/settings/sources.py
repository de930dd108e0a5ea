"""The groups of fields of `Settings`, and warnings about unknown environment variables."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from spadework.form import by_effort
from spadework.home import default_home
from spadework.values.question import LANGUAGE
from spadework.values.search import StatedKind

Role = Literal["lead", "assessor", "judge", "cleaner", "writer", "verifier"]
Effort = Literal["quick", "normal", "deep"]
Cleaning = Literal["default", "fast", "quality", "technical", "off"]
Concern = Literal["search", "crawl", "clean", "model", "orchestrator"]
LogLevel = Literal["debug", "info", "warning", "error"]

_SITE = re.compile(r"(?:library|https?)://\S+|[^\s/:]+\.[^\s/:.]+", re.IGNORECASE)


def provider_alias(name: str) -> AliasChoices:
    """Return both names of a provider's environment variable, with and without `SPADEWORK_`."""
    return AliasChoices(f"SPADEWORK_{name}", name)


def _split(value: Any) -> Any:
    return [w for word in value.split(",") if (w := word.strip())] if type(value) is str else value


def _sites(value: Any) -> Any:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple | set | frozenset):
        return value
    named = tuple(site.strip() if isinstance(site, str) else site for site in given)
    if any(isinstance(one, str) and one and not _SITE.fullmatch(one) for one in named):
        raise ValueError("each should be a domain such as example.org")
    return tuple(site for site in named if site)


def _country(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    code = value.strip().lower()
    if code and not re.fullmatch(r"[a-z]{2}", code):
        raise ValueError("it should be the two letters of a country, such as de or us")
    return "gb" if code == "uk" else code


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value.strip()) if value.strip() else None
    except ValueError:
        raise ValueError("it should be a date, YYYY-MM-DD") from None


T = TypeVar("T")
Listed = Annotated[tuple[T, ...], NoDecode, BeforeValidator(_split)]
Country = Annotated[str, BeforeValidator(_country)]
Day = Annotated[date | None, BeforeValidator(_day)]
Sites = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_sites)]


PREFIX = "SPADEWORK_"
#: Variables with the prefix SPADEWORK_ that other modules read.
_OTHERS = frozenset({"PROXY", "MCP_CONNECTION"})
#: Environment variables of other research servers, mapped to the equivalent setting here, or "" if
#: there is none.
_ELSEWHERE = {
    "DEFAULT_NUM_RESULTS": "",
    "DEFAULT_SEARCH_COUNTRY": "search_country",
    "DEFAULT_SEARCH_LANGUAGE": "search_language",
    "DEFAULT_RELEVANCE_THRESHOLD": "min_relevance",
    "DEFAULT_CONCURRENT_CRAWLS": "",
    "MAX_CONCURRENT_CRAWLS": "",
    "CRAWL_TIMEOUT_SECONDS": "",
    "CLEANLINESS_THRESHOLD": "clean",
    "MCP_MAX_TOKENS": "",
    "TARGET_TOKENS": "",
    "LOG_LEVEL": "log",
}
_LOG = logging.getLogger(__name__)
_told: set[str] = set()


def tell_unread(fields: Collection[str]) -> None:
    """Warn once per process about each ignored environment variable that looks like a setting."""
    for name, sentence in unread(fields, os.environ):
        if name not in _told:
            _told.add(name)
            _LOG.warning(sentence)


def unread(fields: Collection[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each environment variable that looks like a setting but is ignored, and a warning."""
    known = {field.upper() for field in fields} | _OTHERS
    for name in sorted(environ):
        own = name.upper().startswith(PREFIX) and name.upper().removeprefix(PREFIX)
        instead = f"{PREFIX}{_ELSEWHERE.get(name, '').upper()}"
        if own and own not in known:
            near = get_close_matches(own, known, 1)
            mend = f"Did you mean {PREFIX}{near[0]}?" if near else "See docs/settings.md."
            yield name, f"{name} is not a setting and is ignored. {mend}"
        elif instead != PREFIX and instead not in environ:
            yield name, f"{name} is ignored. Use {instead} instead."
        elif name in _ELSEWHERE and instead == PREFIX:
            yield name, f"{name} is not a setting and is ignored. See docs/settings.md."


class Searching(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings for searches and for the ranking of hits."""

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
    """Settings for fetching, reading and cleaning pages."""

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


class Models(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings for models, embeddings, endpoints and request sizes."""

    model: str = ""
    """Chat model as PROVIDER:NAME, such as openai:gpt-5-mini. Empty: the default of the key, or
    none.
    """
    judge_model: str = ""
    """Model that looks at hits, cleans pages, and judges coverage and sentences. Empty: `model`."""
    writer_model: str = ""
    """Model of the writer. Empty: `model`."""
    openai_api_key: SecretStr | None = Field(
        None, validation_alias=provider_alias("OPENAI_API_KEY")
    )
    """API key of the model server."""
    openai_base_url: str = Field("", validation_alias=provider_alias("OPENAI_BASE_URL"))
    """Any OpenAI-compatible server. Empty: OpenAI."""
    fallback_model: str = ""
    """Chat model to use when a role's own model fails or its quota is spent. Empty: none."""
    fallback_base_url: str = ""
    """OpenAI-compatible server of the fallback model. Empty: the same server as for the other
    models.
    """
    fallback_api_key: SecretStr | None = None
    """API key of the fallback model's server. Unset: the same key as for the other models."""
    reply_tokens: int = Field(8_000, ge=100, le=100_000)
    """Maximum tokens in one model answer."""
    context_tokens: int = Field(0, ge=0, le=10_000_000)
    """Maximum tokens of a request and its answer together. 0: read from the server's list of
    models, else learned from its refusals.
    """
    model_seconds: float = Field(120, gt=0, le=3_600)
    """Maximum seconds to wait for one model answer."""
    model_parallel: int = Field(16, ge=1, le=256)
    """Maximum concurrent model calls per endpoint, over all sessions of a process or, with a
    database, of all machines. Reduced while the endpoint reports that it is busy.
    """
    embeddings: str = ""
    """Embedding model, such as text-embedding-3-small. Empty: none, so search is by words only."""
    embeddings_url: str = ""
    """OpenAI-compatible server for embeddings. Empty: `openai_base_url`, or OpenAI."""
    embeddings_api_key: SecretStr | None = None
    """API key of the embedding server. Unset: `openai_api_key`, but only for the server it belongs
    to.
    """
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=lambda: {
            "gpt-5-mini": (0.25, 2.0),
            "gpt-5-nano": (0.05, 0.4),
            "gpt-5": (1.25, 10.0),
        }
    )
    """US dollars per million tokens in and out, by model name. The price of any other model is
    unknown.
    """


class Judging(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings for the report, stored pages, and questions to the user."""

    # The report
    length: Literal["short", "normal", "long"] = "normal"
    """Length of a model's report unless the question asks for another: about 200, 700 or 1800
    words.
    """

    # Knowledge
    knowledge: bool = True
    """Keep the web pages that are read, and search them before the web."""
    qdrant_url: str = Field("", validation_alias=provider_alias("QDRANT_URL"))
    """Address of a Qdrant server that keeps the pages, in the collection `spadework`; users have
    their own. Empty: they are kept under `home`.
    """
    qdrant_api_key: SecretStr | None = Field(
        None, validation_alias=provider_alias("QDRANT_API_KEY")
    )
    """API key of the Qdrant server. Also QDRANT_API_KEY."""

    # Questions to the user
    clarify: bool = False
    """Ask the user where the question can mean several things. On in chat and on the web page."""
    approve: bool = False
    """Show the plan and wait for approval or changes. On in chat and on the web page."""


class Budgets(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings that limit a run."""

    effort: Effort = "normal"
    """quick: at most 3 topics, few model calls, no check of hits and no cleaning. normal: at most
    6 topics. deep: at most 12, more pages, refined searches and a review of the report by a model.
    """
    minutes: float = Field(10, gt=0, le=1_440)
    """Time limit of a run in minutes, from the start of the process."""
    iterations: int = Field(default_factory=by_effort(quick=2, normal=3, deep=3), ge=1, le=12)
    """Maximum rounds. Unset: 3, quick 2."""
    completeness: float = Field(0.8, ge=0, le=1)
    """Score at which a topic counts as answered."""
    calls: int = Field(110, ge=0, le=100_000)
    """Maximum model calls."""
    searches: int = Field(120, ge=0, le=100_000)
    """Maximum searches."""
    pages: int = Field(default_factory=by_effort(quick=60, normal=60, deep=400), ge=0, le=10_000)
    """Maximum pages read. Unset: 60, deep 400."""
    tokens: int = Field(1_000_000, ge=0)
    """Maximum tokens in and out, over all model calls."""
    money: float = Field(5.0, ge=0)
    """Maximum US dollars for model calls, where the price is known."""


class Serving(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings for `serve`, MCP and stored sessions."""

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
    """Settings for a server's users and for the database that machines share."""

    # Users
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

    # Several machines
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
    """Parse IP addresses or networks. Raises ValueError for any other word."""
    return tuple(ip_network(word, strict=False) for word in words)


CONCERNS: tuple[Concern, ...] = get_args(Concern)
LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


class Observing(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Settings for the logs of a run."""

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
    """Return the level of each log to write. Raises ValueError for unknown words in `log`."""
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
