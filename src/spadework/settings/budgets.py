"""What a run may use."""

from __future__ import annotations

from pydantic import BaseModel, Field

from spadework.form import by_effort
from spadework.settings.kinds import Effort


class Budgets(BaseModel, defer_build=True, use_attribute_docstrings=True):
    """What a run may use."""

    effort: Effort = "normal"
    """quick asks a model as little as can be: at most three topics, no look at hits, no cleaning.
    deep reads more, and has a model search again and review the report.
    """
    minutes: float = Field(10, gt=0, le=1_440)
    """Minutes for the whole run, from the start of the process."""
    iterations: int = Field(default_factory=by_effort(quick=2, normal=3, deep=3), ge=1, le=12)
    """Most rounds of searching. Unset: 3, quick 2."""
    completeness: float = Field(0.8, ge=0, le=1)
    """Score from which a topic counts as answered."""
    calls: int = Field(110, ge=0, le=100_000)
    """Most model calls."""
    searches: int = Field(120, ge=0, le=100_000)
    """Most searches."""
    pages: int = Field(default_factory=by_effort(quick=60, normal=60, deep=400), ge=0, le=10_000)
    """Most pages read. Unset: 60, deep 400."""
    tokens: int = Field(1_000_000, ge=0)
    """Most tokens in and out, all model calls together."""
    money: float = Field(5.0, ge=0)
    """Most US dollars for model calls, where the price is known."""
    marginal_utility: float = Field(0.1, ge=0, le=1)
    """A round that adds a smaller share of new evidence is the last."""
    plan_days: float = Field(7, ge=0, le=365)
    """How many days the plan of a question is used again. 0: it is always made anew."""
