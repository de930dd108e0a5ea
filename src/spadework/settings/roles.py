"""What is kept from run to run, asked back, and shown to the roles that judge."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

from spadework.form import by_effort
from spadework.settings.environment import provider_alias
from spadework.values import QuestionType

#: Question types that need several voices, and the domains that count as several.
SEVERAL_VOICES: frozenset[QuestionType] = frozenset({"compare", "evaluate", "list", "latest"})
SEVERAL = 3


class Standard(BaseModel, frozen=True, extra="forbid"):
    """What the evidence of a question is held to, and what is searched where it falls short."""

    quality: float = Field(7.5, ge=0, le=10)
    target: float = Field(8.0, ge=0, le=10)
    domains: int = Field(1, ge=0, le=100)
    searches: int = Field(3, ge=0, le=5)
    seconds: float = Field(30, gt=0, le=600)


class Judging(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What is kept from run to run, asked back, and shown to the roles that judge."""

    # The report
    length: Literal["short", "normal", "long"] = "normal"
    """Length of a model's report unless the question asks for another: about 200, 700 or 1800
    words.
    """

    # Knowledge
    knowledge: bool = True
    """Keep the web pages that are read, and search them before the web."""
    knowledge_days: float = Field(7, ge=0, le=3_650)
    """Days after which a kept page is stale and fetched again."""

    qdrant_url: str = Field("", validation_alias=provider_alias("QDRANT_URL"))
    """Address of a Qdrant server that keeps the pages. Empty: they are kept under `home`."""
    qdrant_api_key: SecretStr | None = Field(
        None, validation_alias=provider_alias("QDRANT_API_KEY")
    )
    """API key of the Qdrant server. Also QDRANT_API_KEY."""
    qdrant_collection: str = Field("spadework", pattern=r"^[\w-]{1,100}$")
    """Collection on the Qdrant server. Everybody who names the same one shares its pages."""

    # Asking back
    clarify: bool = False
    """Ask the user where the question can mean several things. On in chat and on the web page."""
    approve: bool = False
    """Show the plan and wait for approval or changes. On in chat and on the web page."""
    answer_minutes: float = Field(60, gt=0, le=10_080)
    """Minutes to wait for the user's answer before the run goes on without it. The run's clock is
    paused meanwhile.
    """

    # Evidence
    window_tokens: int = Field(
        default_factory=by_effort(quick=12_000, normal=12_000, deep=24_000), ge=500, le=1_000_000
    )
    """Maximum tokens of pages shown to a model for a topic; less where its context or speed
    requires. Unset: 12000, deep 24000.
    """
    shown_tokens: int = Field(
        default_factory=by_effort(quick=100_000, normal=100_000, deep=200_000),
        ge=500,
        le=10_000_000,
    )
    """Maximum tokens of pages shown to a model in a round, over all topics. Unset: 100000, deep
    200000, in several parallel calls.
    """

    standards: dict[QuestionType | Literal["any"], Standard] = Field(default_factory=dict)
    """What evidence is held to, by type of question or for any: quality (7.5 of 10) and domains (3
    where a question compares, evaluates, lists or asks for news, else 1), below which a topic is
    searched again; the quality to aim at (8.0); how many recommended searches a round makes for a
    topic (3), and the seconds each may take (30). As JSON: {"latest": {"domains": 5}}.
    """

    def standard(self, question_type: QuestionType) -> Standard:
        """Return the evidence standard for a question type."""
        own = {"domains": SEVERAL} if question_type in SEVERAL_VOICES else {}
        for name in ("any", question_type):
            if found := self.standards.get(name):
                own |= found.model_dump(exclude_unset=True)
        return Standard(**own)
