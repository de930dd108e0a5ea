"""How search results are weighed: what each is worth by which parts, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from spadework.values.finding import Found
from spadework.values.value import Value

#: What becomes of a hit: it is read, waits to take the place of another, or is left.
Fate = Literal["chosen", "reserve", "left"]


class Lead(Value):
    """A search result; `parts` of its relevance, each 0..1, are position, title, snippet (S5)."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1
    published_at: datetime | None = None
    relevance: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)


class Choice(Value):
    """What was decided of a hit in a round, and why; `rrf` is its score over `found_by`, fused."""

    url: str
    title: str = ""
    fate: Fate
    why: str = ""
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()
