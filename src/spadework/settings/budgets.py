"""What a run may use."""

from __future__ import annotations

from pydantic import BaseModel, Field

from spadework.form import by_effort
from spadework.settings.environment import Effort


class Budgets(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What a run may use."""

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
    marginal_utility: float = Field(0.1, ge=0, le=1)
    """Stop after a round that adds less than this share of all evidence."""
    plan_days: float = Field(7, ge=0, le=365)
    """Days for which the plan of a question is reused. 0: plan anew each time."""
