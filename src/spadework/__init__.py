"""Deep research in which every factual sentence cites the exact words of a source.

>>> from spadework import research
>>> result = await research("What is Terraform and how do I use it?")
>>> print(result.report)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spadework.budget import Budget
    from spadework.errors import SpadeworkError
    from spadework.sessions.one_call import research, research_sync, research_tool
    from spadework.sessions.page_sessions import gather, read
    from spadework.sessions.search_only import search
    from spadework.sessions.session import Session
    from spadework.settings import Settings
    from spadework.values import Result

__all__ = [
    "Budget",
    "Result",
    "Session",
    "Settings",
    "SpadeworkError",
    "gather",
    "read",
    "research",
    "research_sync",
    "research_tool",
    "search",
]

_HOMES = {
    "Budget": "spadework.budget",
    "Result": "spadework.values",
    "Session": "spadework.sessions.session",
    "Settings": "spadework.settings",
    "SpadeworkError": "spadework.errors",
    "gather": "spadework.sessions.page_sessions",
    "read": "spadework.sessions.page_sessions",
    "research": "spadework.sessions.one_call",
    "research_sync": "spadework.sessions.one_call",
    "research_tool": "spadework.sessions.one_call",
    "search": "spadework.sessions.search_only",
}


def __getattr__(name: str) -> Any:
    # Import names on first use, because importing everything is slow.
    if name not in _HOMES:
        raise AttributeError(f"module 'spadework' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
