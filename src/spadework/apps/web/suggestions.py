"""Questions to begin with, which what is searched here can answer."""

from __future__ import annotations

from spadework.apps.web.page_context import Web
from spadework.sessions.library_examples import from_library

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


async def examples(web: Web) -> tuple[str, ...]:
    """Four questions, or what a library of somebody's own is found to answer, once indexed."""
    if web.settings.search not in ("auto", "library"):
        return WEB
    if not web.settings.library:
        return INSTALLED
    if not web.examples:
        web.examples = await from_library(web.settings, len(INSTALLED))
    return web.examples
