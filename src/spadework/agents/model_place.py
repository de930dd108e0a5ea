"""Where a model is asked."""

from __future__ import annotations

from typing import NamedTuple

from spadework.agents.providers import label_of
from spadework.settings import Role, Settings


class Place(NamedTuple):
    """A model PROVIDER:NAME, and the address of its compatible server ("": the provider's own)."""

    name: str
    base_url: str

    @property
    def label(self) -> str:
        """Its name in reports."""
        return label_of(self.name)


def places_of(role: Role, settings: Settings, default: str = "") -> list[Place]:
    """Where a role is asked: its own model (else `default`), and the fallback model."""
    own = Place(settings.model_for(role) or default, settings.openai_base_url)
    spare = Place(settings.fallback_model, settings.fallback_base_url or settings.openai_base_url)
    return [own] if not spare.name or spare == own else [own, spare]


def settings_at(place: Place, settings: Settings) -> Settings:
    """The settings with the address and the key of a place."""
    if place.base_url == settings.openai_base_url:
        return settings
    key = settings.fallback_api_key or settings.openai_api_key
    return settings.model_copy(update={"openai_base_url": place.base_url, "openai_api_key": key})
