"""Which knowledge store a run has."""

from __future__ import annotations

from spadework.settings import Settings
from spadework.tools.knowledge.embedded import EmbeddedKnowledge
from spadework.tools.knowledge.store import Knowledge


def knowledge_of(settings: Settings) -> Knowledge | None:
    """The store of the settings, None where they want none. Opens nothing yet."""
    return store_of(settings) if settings.knowledge else None


def store_of(settings: Settings) -> Knowledge:
    """The store itself, whether runs use it or not."""
    return EmbeddedKnowledge(settings.home / "knowledge", settings.knowledge_mb * 1_000_000)
