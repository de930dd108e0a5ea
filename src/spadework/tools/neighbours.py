"""The sentences around a stretch of a text."""

from __future__ import annotations

import re

from spadework.tools.orders import told
from spadework.tools.sentences import sentences

#: Characters before and after a stretch in which its neighbours are looked for, and those of one
#: that are told.
REACH, MOST_CHARS = 1_500, 400
#: What no neighbour is behind: a heading, a rule.
_APART = re.compile(r"^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$)", re.MULTILINE)


def neighbours(text: str, start: int, end: int) -> tuple[str, str]:
    """The sentence before `text[start:end]` and the one after it, each on one line; "" where there
    is none under the same heading, or where what stands there is told to machines.
    """
    first = max(0, start - REACH)
    around = text[first : end + REACH]
    spans = [(first + a, first + b) for a, b in told(around)]
    heard = next((span for span in spans if span[0] <= start and end <= span[1]), (start, end))
    before, after = _since(text[heard[0] : start]), text[end : heard[1]]
    ends = [before[slice(*span)] for span in sentences(before)[-1:]]
    follows = [
        after[slice(*span)] for span in sentences(after)[:1] if not _APART.search(after[: span[0]])
    ]
    return _short(ends), _short(follows)


def _since(before: str) -> str:
    """What stands before a place, from the last heading on."""
    apart = [found.start() for found in _APART.finditer(before)]
    return before[before.find("\n", apart[-1]) + 1 :] if apart else before


def _short(found: list[str]) -> str:
    said = " ".join("".join(found).split())
    return "" if len(said) > MOST_CHARS else said
