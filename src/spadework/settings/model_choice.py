"""Models and embeddings: which, where, and how much one request may hold."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from spadework.settings.environment import provider_alias


class Models(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """Models and embeddings: which, where, and how much one request may hold."""

    model: str = ""
    """Chat model as PROVIDER:NAME, such as openai:gpt-5-mini. Empty: the default of the key, or
    none.
    """
    lead_model: str = ""
    """Model of the lead, who plans. Empty: `model`."""
    assessor_model: str = ""
    """Model of the assessor, who judges coverage. Empty: `model`."""
    judge_model: str = ""
    """Model that judges how clean pages are and looks at hits; small and cheap. Empty: `model`."""
    cleaner_model: str = ""
    """Model that cleans pages; small and cheap. Empty: `model`."""
    writer_model: str = ""
    """Model of the writer. Empty: `model`."""
    verifier_model: str = ""
    """Model of the verifier. Empty: `model`."""
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
    structured_output: Literal["auto", "json_schema", "function_calling", "json_mode"] = "auto"
    """How structured answers are requested. auto: JSON schema, then function calling, then JSON
    mode.
    """
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
    model_stream: bool = False
    """Stream answers, for servers or proxies that cut long silences."""
    embeddings: str = ""
    """Embedding model, such as text-embedding-3-small. Empty: none, so search is by words alone."""
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
