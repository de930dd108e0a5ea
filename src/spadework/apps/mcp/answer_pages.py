"""Pagination of what does not fit in one response."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from spadework.tools.export.fitted_text import largest
from spadework.tools.text.tokens import count

M = TypeVar("M", bound=BaseModel)

#: A cut moves back to the end of a line or word, by at most this share of the text shown.
SEARCHED_SHARE = 0.2


@dataclass(frozen=True)
class Stretch:
    """Characters `offset:end` of a text of `total` characters."""

    text: str
    offset: int
    end: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """Where to continue, None at the end."""
        return self.end if self.end < self.total else None


def stretch(text: str, offset: int, chars: int, tokens: int, *, exact: bool = False) -> Stretch:
    """Return part of `text` from `offset` on: at most this many characters, and tokens as a JSON
    string, but at least one character.

    It ends at a line or word end, unless `exact` and all the characters fit.
    """
    offset = min(max(0, offset), len(text))
    window = text[offset : offset + chars]
    size = largest(len(window), lambda n: tokens_of(window[:n]) <= tokens)
    whole = offset + size == len(text) or (exact and size == len(window))
    size = size if whole else _at_a_break(window, size)
    size = max(size, min(1, len(window)))
    return Stretch(window[:size], offset, offset + size, len(text))


def first_within(items: Sequence[M], tokens: int) -> list[M]:
    """Return the first items whose JSON fits in `tokens`."""
    sizes = [count(item.model_dump_json()) + 1 for item in items]
    return list(items[: largest(len(items), lambda n: sum(sizes[:n]) <= tokens)])


def leading_rows(rows: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """Return the first JSON rows that fit in `tokens`, at least one if there are any."""
    sizes = [tokens_of(row) + 1 for row in rows]
    return list(rows[: max(1, largest(len(rows), lambda n: sum(sizes[:n]) <= tokens))])


def tokens_of(data: Any) -> int:
    """Return the tokens of a value as JSON."""
    return count(json.dumps(data, ensure_ascii=False, default=str))


def _at_a_break(text: str, size: int) -> int:
    """Return a cut slightly before `size`, at the end of a paragraph, line or word."""
    least = int(size * (1 - SEARCHED_SHARE))
    for mark in ("\n\n", "\n", " "):
        at = text.rfind(mark, least, size)
        if at > least:
            return at + len(mark)
    return size
