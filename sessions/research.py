"""Research in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spadework.budget import Budget
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result


async def research(
    question: str, settings: Settings | None = None, budget: Budget | None = None, *, attachments: Sequence[str | Path] = ()
) -> Result:
    """The result of researching a question. Raises SettingsError for settings that cannot be used."""
    return await Session.start(question, settings=settings, budget=budget, attachments=attachments).result()
