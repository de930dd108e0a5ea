"""The types that settings share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AliasChoices
from pydantic_settings import NoDecode

Role = Literal["lead", "assessor", "judge", "cleaner", "writer", "verifier"]
Effort = Literal["quick", "normal", "deep"]
Cleaning = Literal["default", "fast", "quality", "technical", "off"]
#: What a line of the logs is about.
Concern = Literal["search", "crawl", "clean", "model", "orchestrator"]
LogLevel = Literal["debug", "info", "warning", "error"]
Words = Annotated[tuple[str, ...], NoDecode]


def own(name: str) -> AliasChoices:
    """A provider's own variable, and the same with our prefix."""
    return AliasChoices(f"SPADEWORK_{name}", name)
