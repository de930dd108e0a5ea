"""Types shared by the settings."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator
from pydantic_settings import NoDecode

Role = Literal["lead", "assessor", "judge", "cleaner", "writer", "verifier"]
Effort = Literal["quick", "normal", "deep"]
Cleaning = Literal["default", "fast", "quality", "technical", "off"]
#: Topics of log lines.
Concern = Literal["search", "crawl", "clean", "model", "orchestrator"]
LogLevel = Literal["debug", "info", "warning", "error"]
Words = Annotated[tuple[str, ...], NoDecode]

_SITE = re.compile(r"(?:library|https?)://\S+|[^\s/:]+\.[^\s/:.]+", re.IGNORECASE)


def own(name: str) -> AliasChoices:
    """Return a provider's own variable, and the same with our prefix."""
    return AliasChoices(f"SPADEWORK_{name}", name)


def _sites(value: Any) -> Any:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple | set | frozenset):
        return value
    named = tuple(site.strip() if isinstance(site, str) else site for site in given)
    if any(isinstance(one, str) and one and not _SITE.fullmatch(one) for one in named):
        raise ValueError("write domains such as example.org")
    return tuple(site for site in named if site)


def _country(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    code = value.strip().lower()
    if code and not re.fullmatch(r"[a-z]{2}", code):
        raise ValueError("write a country as two letters, such as de or us")
    return "gb" if code == "uk" else code


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value.strip()) if value.strip() else None
    except ValueError:
        raise ValueError("write a day as YYYY-MM-DD") from None


Country = Annotated[str, BeforeValidator(_country)]
Day = Annotated[date | None, BeforeValidator(_day)]
Sites = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_sites)]
