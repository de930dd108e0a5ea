"""Questions to begin with, which what is searched here can answer."""

from __future__ import annotations

from spadework.settings import Settings

#: Over the documentation that is installed with Python.
INSTALLED = (
    "What is LangGraph and how do I use it?",
    "How do I retry a failing HTTP request in Python?",
    "Compare httpx and requests",
    "What does pydantic do and when should I use it?",
)
WEB = (
    "What changed in the EU rules for batteries, and from when on?",
    "Compare PostgreSQL and SQLite for a small web application",
    "What do trials say about creatine and memory?",
    "How do I set up WireGuard between two Linux machines?",
)


def examples(settings: Settings) -> tuple[str, ...]:
    """Four questions; none for a library of somebody's own, of which nothing is known here."""
    if settings.search not in ("auto", "library"):
        return WEB
    return () if settings.library else INSTALLED
