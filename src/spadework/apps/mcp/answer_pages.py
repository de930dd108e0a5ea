"""Cutting what does not fit in one answer, so that the rest can be asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from spadework.tools.export.fitted_text import largest
from spadework.tools.text.tokens import count

M = TypeVar("M", bound=BaseModel)

#: A cut goes back to the end of a line or a word, over at most this share of what is shown.
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
        """Where to read on, None at the end."""
        return self.end if self.end < self.total else None


def stretch(text: str, offset: int, chars: int, tokens: int, *, exact: bool = False) -> Stretch:
    """What stands in `text` from `offset` on: at most so many characters, and tokens as a JSON
    string; one character at the least.

    It ends where a line or a word does, but for `exact`, when all the characters fit.
    """
    offset = min(max(0, offset), len(text))
    window = text[offset : offset + chars]
    size = largest(len(window), lambda n: tokens_of(window[:n]) <= tokens)
    whole = offset + size == len(text) or (exact and size == len(window))
    size = size if whole else _at_a_break(window, size)
    size = max(size, min(1, len(window)))
    return Stretch(window[:size], offset, offset + size, len(text))


def leading(items: Sequence[M], tokens: int) -> list[M]:
    """The first items whose JSON takes at most `tokens` together."""
    sizes = [count(item.model_dump_json()) + 1 for item in items]
    return list(items[: largest(len(items), lambda n: sum(sizes[:n]) <= tokens)])


def leading_rows(rows: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """The same for rows of JSON; at least one where there are any."""
    sizes = [tokens_of(row) + 1 for row in rows]
    return list(rows[: max(1, largest(len(rows), lambda n: sum(sizes[:n]) <= tokens))])


def tokens_of(data: Any) -> int:
    """Tokens of a value as JSON."""
    return count(json.dumps(data, ensure_ascii=False, default=str))


def _at_a_break(text: str, size: int) -> int:
    """A little less than `size`, where a paragraph, a line or a word ends near there."""
    least = int(size * (1 - SEARCHED_SHARE))
    for mark in ("\n\n", "\n", " "):
        at = text.rfind(mark, least, size)
        if at > least:
            return at + len(mark)
    return size
