"""The front matter of a Markdown file: the metadata block that site generators read."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_BLOCK = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.*?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FIELD = re.compile(r"^([A-Za-z][\w-]*)\s*[:=]\s*(.*?)\s*$", re.M)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """The simple fields of YAML or TOML front matter, by lower-case names, and the text after."""
    match = _BLOCK.match(text)
    if not match:
        return {}, text
    fields = {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(match[2])}
    return (fields, text[match.end() :]) if fields else ({}, text)


def parse_iso_date(value: str) -> datetime | None:
    """The moment an ISO date names (UTC where it names no zone), or None."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
