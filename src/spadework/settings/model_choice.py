"""Settings for models, knowledge, asking back and the budget."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from spadework.form import by_effort
from spadework.settings.environment import Effort, provider_alias


class Models(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Models and embeddings: which, where, and how much one request may hold."""

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
    """Report length, knowledge kept between runs, and questions to the user."""

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

    # Asking back
    clarify: bool = False
    """Ask the user where the question can mean several things. On in chat and on the web page."""
    approve: bool = False
    """Show the plan and wait for approval or changes. On in chat and on the web page."""


class Budgets(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Limits of a run."""

    effort: Effort = "normal"
    """quick: at most three topics, few model calls, no check of hits and no cleaning. deep: more
    pages, refined searches and a review of the report by a model.
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
