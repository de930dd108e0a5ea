"""Whether a query is about now, so that news and recent pages are asked for."""

from __future__ import annotations

import re

_NOW = re.compile(
    r"\b(?:news|headlines|breaking|latest|newest|today|tonight|yesterday|currently|right now|this (?:week|month)|past (?:day|week))\b",
    re.IGNORECASE,
)


def about_now(text: str) -> bool:
    """True for a query such as "latest news about Port Aldermere"."""
    return _NOW.search(text) is not None
