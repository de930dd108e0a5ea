"""Every number and name of spadework that can be set: one frozen class, read from the environment
or from keywords.

A field `minutes` is set by `SPADEWORK_MINUTES` or `Settings(minutes=…)`; the variables of the
providers (`OPENAI_API_KEY`, `SEARXNG_URL`, …) count as well. The descriptions and bounds below are
the reference in `docs/settings.md` and the form of Studio.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AliasChoices,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableVariable

from spadework.errors import SettingsError
from spadework.form import as_form, by_effort, sentence

Role = Literal["lead", "assessor", "judge", "cleaner", "writer", "verifier"]
Cleaning = Literal["default", "fast", "quality", "technical", "off"]
Words = Annotated[tuple[str, ...], NoDecode]

DEFAULT_MODEL = "openai:gpt-5-mini"
DEFAULT_SMALL_MODEL = "openai:gpt-5-nano"


def _env(name: str) -> AliasChoices:
    """A provider's own variable, and the same with our prefix."""
    return AliasChoices(f"SPADEWORK_{name}", name)


class Settings(BaseSettings):
    """What a run may use and how much. Frozen: make a changed copy with
    `settings.with_(minutes=5)`.
    """

    model_config = SettingsConfigDict(
        env_prefix="SPADEWORK_",
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        json_schema_extra=as_form,
    )

    # Models
    model: str = Field(
        "",
        description=(
            "Chat model as PROVIDER:NAME, such as openai:gpt-5-mini. Empty: the default of the key,"
            " or none."
        ),
    )
    lead_model: str = Field("", description="Model of the lead, who plans. Empty: `model`.")
    assessor_model: str = Field(
        "", description="Model of the assessor, who judges coverage. Empty: `model`."
    )
    judge_model: str = Field(
        "", description="Model of the judge of pages, small and cheap. Empty: `model`."
    )
    cleaner_model: str = Field(
        "", description="Model of the cleaner of pages, small and cheap. Empty: `model`."
    )
    writer_model: str = Field("", description="Model of the writer. Empty: `model`.")
    verifier_model: str = Field("", description="Model of the verifier. Empty: `model`.")
    openai_api_key: SecretStr | None = Field(
        None, validation_alias=_env("OPENAI_API_KEY"), description="Key of the models' server."
    )
    openai_base_url: str = Field(
        "",
        validation_alias=_env("OPENAI_BASE_URL"),
        description="Any OpenAI-compatible server. Empty: OpenAI.",
    )
    fallback_model: str = Field(
        "",
        description=(
            "Chat model that answers where that of a role fails or its quota is spent. Empty: none."
        ),
    )
    fallback_base_url: str = Field(
        "",
        description=(
            "OpenAI-compatible server of the fallback model. Empty: the same as of the others."
        ),
    )
    fallback_api_key: SecretStr | None = Field(
        None, description="Key of the fallback model's server. Unset: the same as of the others."
    )
    structured_output: Literal["auto", "json_schema", "function_calling", "json_mode"] = Field(
        "auto",
        description=(
            "How answers get their shape. auto: JSON schema, then function calling, then JSON mode."
        ),
    )
    request_tokens: int = Field(
        50_000, ge=1_000, le=1_000_000, description="Most tokens in one model request."
    )
    reply_tokens: int = Field(
        8_000, ge=100, le=100_000, description="Most tokens in one model answer."
    )
    model_seconds: float = Field(
        120, gt=0, le=3_600, description="Longest wait for one model answer, in seconds."
    )
    model_parallel: int = Field(
        16,
        ge=1,
        le=256,
        description="Model calls at once per endpoint; fewer after it answers that it is busy.",
    )
    model_stream: bool = Field(
        False,
        description=(
            "Have answers sent piece by piece, for servers or proxies that cut long silences."
        ),
    )
    embeddings: str = Field(
        "",
        description=(
            "Model for embeddings, such as text-embedding-3-small. Empty: none, search is by words"
            " alone."
        ),
    )
    embeddings_url: str = Field(
        "",
        description="OpenAI-compatible server for embeddings. Empty: `openai_base_url`, or OpenAI.",
    )
    embeddings_api_key: SecretStr | None = Field(
        None,
        description=(
            "Key of the server for embeddings. Unset: `openai_api_key`, for its own server alone."
        ),
    )
    embeddings_seconds: float = Field(
        60, gt=0, le=3_600, description="Longest wait for the embeddings of one batch, in seconds."
    )
    prices: dict[str, tuple[float, float]] = Field(
        default_factory=lambda: {
            "gpt-5-mini": (0.25, 2.0),
            "gpt-5-nano": (0.05, 0.4),
            "gpt-5": (1.25, 10.0),
        },
        description=(
            "US dollars for a million tokens in and out, by model name. A model not listed has an"
            " unknown price."
        ),
    )

    # Budgets
    effort: Literal["normal", "deep"] = Field(
        "normal",
        description=(
            "deep reads more, and has a model look before it plans, judge hits, search again, and"
            " review the report."
        ),
    )
    minutes: float = Field(
        10, gt=0, le=1_440, description="Minutes for the whole run, from the start of the process."
    )
    iterations: int = Field(3, ge=1, le=12, description="Most rounds of searching.")
    completeness: float = Field(
        0.8, ge=0, le=1, description="Coverage score at which a topic counts as covered."
    )
    calls: int = Field(110, ge=0, le=100_000, description="Most model calls.")
    searches: int = Field(120, ge=0, le=100_000, description="Most searches.")
    pages: int = Field(
        default_factory=by_effort(60, 400),
        ge=0,
        le=10_000,
        description="Most pages read. Unset: 60, deep 400.",
    )
    tokens: int = Field(
        1_000_000, ge=0, description="Most tokens in and out, all model calls together."
    )
    money: float = Field(
        5.0, ge=0, description="Most US dollars for model calls, where the price is known."
    )
    marginal_utility: float = Field(
        0.1,
        ge=0,
        le=1,
        description="A round that adds a smaller share of new evidence is the last.",
    )
    plan_days: float = Field(
        7,
        ge=0,
        le=365,
        description=(
            "How many days the plan of a question is used again. 0: it is always made anew."
        ),
    )

    # Search
    search: str = Field(
        "auto",
        description=(
            "Providers, separated by commas: auto, library, searxng, duckduckgo, serper, tavily,"
            " brave, arxiv, wikipedia, openalex, pubmed, mcp."
        ),
    )
    library: Annotated[tuple[Path, ...], NoDecode] = Field(
        (),
        description="Files and folders to search. Empty: the documentation installed with Python.",
    )
    searxng_url: str = Field(
        "",
        validation_alias=_env("SEARXNG_URL"),
        description="A SearXNG server with the JSON format enabled.",
    )
    serper_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("SPADEWORK_SERPER_API_KEY", "SERPER_API_KEY", "SERP_API_KEY"),
        description="Key of Serper. Also SERPER_API_KEY or SERP_API_KEY.",
    )
    tavily_api_key: SecretStr | None = Field(
        None,
        validation_alias=_env("TAVILY_API_KEY"),
        description="Key of Tavily. Also TAVILY_API_KEY.",
    )
    brave_api_key: SecretStr | None = Field(
        None,
        validation_alias=_env("BRAVE_API_KEY"),
        description="Key of the Brave Search API. Also BRAVE_API_KEY.",
    )
    openalex_api_key: SecretStr | None = Field(
        None,
        validation_alias=_env("OPENALEX_API_KEY"),
        description=(
            "Key of OpenAlex, free; without it only a few searches a day. Also OPENALEX_API_KEY."
        ),
    )
    search_language: str = Field(
        "en",
        pattern=r"^[a-z]{2,12}(-[a-z]{2,12})*$",
        description="Language of Wikipedia and of Serper's results, such as en or de.",
    )
    mcp_search: SecretStr | None = Field(
        None,
        description=(
            "Search tools of MCP servers, as TOOL @ ADDRESS or TOOL @ COMMAND LINE, several"
            " separated by semicolons. A command line may begin with variables for its process,"
            " such as KEY=value."
        ),
    )
    search_limits: dict[
        str, tuple[Annotated[float, Field(gt=0, le=1_000)], Annotated[int, Field(ge=1, le=100)]]
    ] = Field(
        default_factory=dict,
        description=(
            'Most searches a second and at once, by provider, as JSON such as {"brave": [1, 1]}.'
            " Not listed: what the provider documents."
        ),
    )
    search_cache_days: float = Field(
        7, ge=0, le=365, description="Days for which results are kept for all sessions."
    )
    search_cache_hours: float = Field(
        12,
        ge=0,
        le=720,
        description="Hours for which results are kept where recent pages are wanted.",
    )
    search_cache_minutes: float = Field(
        15,
        ge=0,
        le=1_440,
        description="Minutes for which results are kept of a search about now, or an empty one.",
    )
    search_cache_mb: int = Field(
        50,
        ge=0,
        le=100_000,
        description="Most megabytes of results kept on disk for all sessions. 0: none.",
    )
    search_results: int = Field(
        default_factory=by_effort(15, 30),
        ge=1,
        le=100,
        description="Results of a query. Unset: 15, deep 30.",
    )
    search_seconds: float = Field(
        30, gt=0, le=600, description="Longest wait for one search, in seconds."
    )
    probe_seconds: float = Field(
        2.0,
        gt=0,
        le=30,
        description="Longest wait to find out whether the web can be reached, in seconds.",
    )

    # Ranking
    preset: Literal["default", "precise", "balanced", "recall"] = Field(
        "default", description="How many hits are read, and from which relevance on."
    )
    rrf_k: int = Field(60, ge=1, le=1_000, description="The constant k of reciprocal rank fusion.")
    original_weight: float = Field(
        2.0, ge=0, le=10, description="Weight of the original query against its variants in fusion."
    )
    pages_per_domain: int = Field(
        3, ge=1, le=100, description="Most pages of one domain in a topic while others wait."
    )

    # Reading
    parallel_pages: int = Field(5, ge=1, le=10, description="Pages read at once, per topic.")
    parallel_per_host: int = Field(2, ge=1, le=10, description="Connections at once to one host.")
    page_seconds: float = Field(
        60, gt=0, le=600, description="Longest wait for one page over all levels, in seconds."
    )
    page_bytes: int = Field(
        10_000_000, ge=1_000, description="Largest page body, decoded, in bytes."
    )
    first_byte_seconds: float = Field(
        20, gt=0, le=600, description="Longest wait for the first byte of an answer, in seconds."
    )
    slow_page_seconds: float = Field(
        10,
        gt=0,
        le=600,
        description=(
            "After so many seconds a page counts as slow, and another one is read beside it."
        ),
    )
    clean: Cleaning = Field(
        "default",
        description=(
            "Cleaning by a model, of pages that code finds dirty: from which cleanliness on a page"
            " is left alone, and from how many characters it is looked at. default: 0.7, 500. fast:"
            " 0.8, 1,000. quality: 0.6, 200. technical: as default, with care for commands."
        ),
    )
    cache_mb: int = Field(
        500,
        ge=0,
        le=1_000_000,
        description=(
            "Most megabytes of pages kept on disk for all sessions, by the rules of HTTP. 0: none."
        ),
    )
    min_level: int = Field(
        0, ge=0, le=3, description="The level with which going after a page begins."
    )
    max_level: int = Field(
        3,
        ge=0,
        le=3,
        description=(
            "How far a page is gone after: 0 plain HTTP, 1 headers like a browser's, 2 a browser, 3"
            " like a person's."
        ),
    )
    chromium: str = Field(
        "",
        description=(
            "Path of the Chromium or Chrome for levels 2 and 3. Empty: the first that is found."
        ),
    )
    browser_pages: int = Field(4, ge=1, le=20, description="Pages open in the browser at once.")
    browser_bytes: int = Field(
        50_000_000,
        ge=100_000,
        description=(
            "Most bytes that one page may load and send in the browser; then it is read as far as"
            " it is."
        ),
    )
    browser_sandbox: bool = Field(
        True, description="Run Chromium in its sandbox. As root it has none."
    )
    redirects: int = Field(8, ge=0, le=20, description="Most redirects followed for one page.")
    robots: bool = Field(True, description="Honour robots.txt. Lift it only for sites you own.")
    allow_hosts: Words = Field(
        (),
        description=(
            "Hosts or addresses you own that the address guard lets through, separated by commas."
        ),
    )
    user_agent: str = Field(
        "spadework/0.1 (research assistant)",
        description="How spadework names itself to web servers.",
    )

    # Knowledge
    knowledge: bool = Field(
        True, description="Keep the web pages that runs read, and search them before the web."
    )
    knowledge_days: float = Field(
        7,
        ge=0,
        le=3_650,
        description="Days after which a kept page counts as stale and is fetched again.",
    )
    knowledge_hours: float = Field(
        12,
        ge=0,
        le=8_760,
        description="The same in hours, where recent pages are wanted. About now none is used.",
    )
    knowledge_mb: int = Field(
        200,
        ge=1,
        le=1_000_000,
        description="Most megabytes of kept pages (packed). The least recently used go first.",
    )

    qdrant_url: str = Field(
        "",
        validation_alias=_env("QDRANT_URL"),
        description=(
            "Address of a Qdrant server that keeps the pages. Empty: they are kept under `home`."
        ),
    )
    qdrant_api_key: SecretStr | None = Field(
        None,
        validation_alias=_env("QDRANT_API_KEY"),
        description="Key of the Qdrant server. Also QDRANT_API_KEY.",
    )
    qdrant_collection: str = Field(
        "spadework",
        pattern=r"^[\w-]{1,100}$",
        description=(
            "Collection on the Qdrant server. Those who name the same one share what they know."
        ),
    )

    # Asking back
    clarify: bool = Field(
        False,
        description=(
            "Ask back where the question can mean several things. On in chat and on the web page."
        ),
    )
    approve: bool = Field(
        False,
        description=(
            "Show the plan and wait until it is approved or changed. On in chat and on the web"
            " page."
        ),
    )
    answer_minutes: float = Field(
        60,
        gt=0,
        le=10_080,
        description=(
            "How long an answer is waited for; then the run goes on without. The run's own time"
            " stands still."
        ),
    )

    # Evidence
    passage_chars: int = Field(
        1_500,
        ge=200,
        le=4_000,
        description="Longest passage, in characters, except for code and tables.",
    )
    assess_chars: int = Field(
        12_000,
        ge=1_000,
        le=200_000,
        description="Characters of passages shown to the assessor for a topic.",
    )
    evidence_per_topic: int = Field(
        20, ge=1, le=100, description="Most evidence kept for a topic in one round."
    )

    quality_floor: float = Field(
        7.5,
        ge=0,
        le=10,
        description="Quality of passages, 0 to 10, below which a search is recommended.",
    )
    quality_target: float = Field(
        8.0,
        ge=0,
        le=10,
        description="Quality of passages, 0 to 10, that the assessor is told to aim at.",
    )
    least_domains: int = Field(
        3, ge=0, le=100, description="Evidence of fewer domains is reported, except from a library."
    )

    # Serving
    token: SecretStr | None = Field(
        None,
        description=(
            "What requests to `serve` must bring. Unset: none on this machine alone; beyond it one"
            " is made and printed."
        ),
    )
    serve_hosts: Words = Field(
        (),
        description=(
            "Host names that `serve` answers to, besides addresses and this machine's own name."
        ),
    )
    answer_tokens: int = Field(
        20_000,
        ge=4_000,
        le=1_000_000,
        description=(
            "Most tokens in one answer of an MCP tool, its text and its structured content"
            " together."
        ),
    )
    upload_files: int = Field(
        5, ge=0, le=100, description="Most files given along with a question on the web page."
    )
    upload_bytes: int = Field(
        20_000_000,
        ge=1_000,
        description="Most bytes of all files given along with a question on the web page.",
    )

    # Sessions
    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("spadework")),
        description="Where sessions and indexes are kept.",
    )

    _given: frozenset[str] = PrivateAttr(default=frozenset())

    @model_validator(mode="wrap")
    @classmethod
    def _in_one_sentence(cls, data: Any, checked: ModelWrapValidatorHandler[Self]) -> Self:
        # However they are made, also from the context of a graph: one sentence of ours, not
        # pydantic's list.
        try:
            return checked(data)
        except ValidationError as error:
            raise SettingsError(sentence(error)) from None

    @field_validator("allow_hosts", "serve_hosts", "library", mode="before")
    @classmethod
    def _split_words(cls, value: Any) -> Any:
        return (
            tuple(word.strip() for word in value.split(",") if word.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("home", "library", mode="after")
    @classmethod
    def _absolute(cls, value: Any) -> Any:
        return (
            value.expanduser().absolute()
            if isinstance(value, Path)
            else tuple(path.expanduser().absolute() for path in value)
        )

    @classmethod
    def load(cls, **given: Any) -> Self:
        """Settings from the environment and `given`; None in `given` means "not given".

        Raises SettingsError with one sentence that names the field, the value and what would be
        right.
        """
        asked = {name: value for name, value in given.items() if value is not None}
        try:
            made = cls(**asked)
        except UnreadableVariable as error:
            raise SettingsError(f"A variable of the environment cannot be read: {error}.") from None
        made._given = frozenset(asked)
        return made

    @property
    def given(self) -> frozenset[str]:
        """The fields that were asked for, rather than set by the environment or left as they
        are.
        """
        return self._given

    def with_(self, **changes: Any) -> Self:
        """A copy with `changes`, checked like new settings; None means "not changed"."""
        kept = {name: getattr(self, name) for name in self.model_fields_set}
        asked = {name: value for name, value in changes.items() if value is not None}
        made = self.load(**kept | asked)
        made._given = self._given | frozenset(asked)
        return made

    def model_for(self, role: Role) -> str:
        """The model of a role as PROVIDER:NAME, or "" when the extractive role does its work."""
        named = getattr(self, f"{role}_model") or self.model
        if named or not self.openai_api_key or self.openai_base_url:
            return named
        return DEFAULT_SMALL_MODEL if role in ("judge", "cleaner") else DEFAULT_MODEL
