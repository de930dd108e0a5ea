"""Sentences around a span of text."""

from __future__ import annotations

import re
from functools import lru_cache

from spadework.tools.text.markdown import Block, blocks
from spadework.tools.text.prompt_injection import spans_between_injections
from spadework.tools.text.sentences import sentences

#: Maximum distance of neighbours, and maximum characters of one.
REACH, MOST_CHARS = 800, 400
#: Headings and rules separate neighbours.
_APART = re.compile(r"^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$)", re.MULTILINE)


def neighbours(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the sentences before and after `text[start:end]`, each on one line; "" if there is
    none under the same heading and outside code and tables, or it instructs machines.
    """
    apart = _set_apart(text)
    inside = next((one for one in apart if one.start <= start and end <= one.end), None)
    first, last = (inside.start, inside.end) if inside else (start, end)
    since = max([0, start - REACH, *(one.end for one in apart if one.end <= first)])
    until = min([end + REACH, *(one.start for one in apart if one.start >= last)])
    around = text[since:until]
    spans = [(since + a, since + b) for a, b in spans_between_injections(around)]
    heard = next((span for span in spans if span[0] <= start and end <= span[1]), (start, end))
    before, after = _since(text[heard[0] : first]), text[last : heard[1]]
    ends = [before[slice(*span)] for span in sentences(before)[-1:]]
    follows = [
        after[slice(*span)] for span in sentences(after)[:1] if not _APART.search(after[: span[0]])
    ]
    return _short(ends), _short(follows)


@lru_cache(maxsize=256)
def _set_apart(text: str) -> list[Block]:
    """Return the code and tables of a text, cached for all its quotes."""
    return [block for block in blocks(text) if block.kind in ("code", "table")]


def _since(before: str) -> str:
    apart = [found.start() for found in _APART.finditer(before)]
    return before[before.find("\n", apart[-1]) + 1 :] if apart else before


def _short(found: list[str]) -> str:
    said = " ".join("".join(found).split())
    return "" if len(said) > MOST_CHARS else said
