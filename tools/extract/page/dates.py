"""Dates as pages write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_FORMATS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y.%m.%d", "%Y-%m", "%Y")
_OFFSET = re.compile(r"(?<=\d)\s+([+-]\d\d:?\d\d)$")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")


def parse_date(text: str) -> datetime | None:
    """`text` as a moment in UTC (a date without a zone counts as UTC); None when it is no date between 1900 and next year."""
    text = _OFFSET.sub(r"\1", text.strip()[:60])
    moment = _iso(text) or _mail(text) or _written(_ORDINAL.sub("", text))
    if moment is None:
        return None
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
    return moment if 1900 <= moment.year <= datetime.now(UTC).year + 1 else None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _mail(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text) if ":" in text else None
    except (ValueError, IndexError, TypeError, OverflowError):
        return None


def _written(text: str) -> datetime | None:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
