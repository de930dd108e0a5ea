"""Read the environment, and report variables that look like settings but are not."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, BeforeValidator
from pydantic_settings import NoDecode

Role = Literal["lead", "assessor", "judge", "cleaner", "writer", "verifier"]
Effort = Literal["quick", "normal", "deep"]
Cleaning = Literal["default", "fast", "quality", "technical", "off"]
Concern = Literal["search", "crawl", "clean", "model", "orchestrator"]
LogLevel = Literal["debug", "info", "warning", "error"]

_SITE = re.compile(r"(?:library|https?)://\S+|[^\s/:]+\.[^\s/:.]+", re.IGNORECASE)


def provider_alias(name: str) -> AliasChoices:
    """Return aliases for a provider's own variable, with and without our prefix."""
    return AliasChoices(f"SPADEWORK_{name}", name)


def _split(value: Any) -> Any:
    return [w for word in value.split(",") if (w := word.strip())] if type(value) is str else value


def _sites(value: Any) -> Any:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple | set | frozenset):
        return value
    named = tuple(site.strip() if isinstance(site, str) else site for site in given)
    if any(isinstance(one, str) and one and not _SITE.fullmatch(one) for one in named):
        raise ValueError("each should be a domain such as example.org")
    return tuple(site for site in named if site)


def _country(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    code = value.strip().lower()
    if code and not re.fullmatch(r"[a-z]{2}", code):
        raise ValueError("it should be the two letters of a country, such as de or us")
    return "gb" if code == "uk" else code


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value.strip()) if value.strip() else None
    except ValueError:
        raise ValueError("it should be a date, YYYY-MM-DD") from None


T = TypeVar("T")
Listed = Annotated[tuple[T, ...], NoDecode, BeforeValidator(_split)]
Country = Annotated[str, BeforeValidator(_country)]
Day = Annotated[date | None, BeforeValidator(_day)]
Sites = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_sites)]


PREFIX = "SPADEWORK_"
#: Variables with our prefix that other modules read.
_OTHERS = frozenset({"PROXY", "MCP_CONNECTION"})
#: Variables of other research servers and our setting for each; "" if ours is a constant.
_ELSEWHERE = {
    "DEFAULT_NUM_RESULTS": "",
    "DEFAULT_SEARCH_COUNTRY": "search_country",
    "DEFAULT_SEARCH_LANGUAGE": "search_language",
    "DEFAULT_RELEVANCE_THRESHOLD": "min_relevance",
    "DEFAULT_CONCURRENT_CRAWLS": "",
    "MAX_CONCURRENT_CRAWLS": "",
    "CRAWL_TIMEOUT_SECONDS": "",
    "CLEANLINESS_THRESHOLD": "clean",
    "MCP_MAX_TOKENS": "",
    "TARGET_TOKENS": "",
    "LOG_LEVEL": "log",
}
_LOG = logging.getLogger(__name__)
_told: set[str] = set()


def tell_unread(fields: Collection[str]) -> None:
    """Log a warning for each variable that no setting reads, once per process."""
    for name, sentence in unread(fields, os.environ):
        if name not in _told:
            _told.add(name)
            _LOG.warning(sentence)


def unread(fields: Collection[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each variable that no setting in `fields` reads, with a sentence about it."""
    known = {field.upper() for field in fields} | _OTHERS
    for name in sorted(environ):
        own = name.upper().startswith(PREFIX) and name.upper().removeprefix(PREFIX)
        instead = f"{PREFIX}{_ELSEWHERE.get(name, '').upper()}"
        if own and own not in known:
            near = get_close_matches(own, known, 1)
            mend = f"Did you mean {PREFIX}{near[0]}?" if near else "See docs/settings.md."
            yield name, f"{name} is not a setting and is ignored. {mend}"
        elif instead != PREFIX and instead not in environ:
            yield name, f"{name} is ignored. Use {instead} instead."
        elif name in _ELSEWHERE and instead == PREFIX:
            yield name, f"{name} is not a setting and is ignored. See docs/settings.md."
