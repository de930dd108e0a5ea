"""The cues of a question: what kind of answer its words ask for, as its language says them."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

from spadework.tools.text.language import language

Cue = Literal[
    "count",
    "measure",
    "date",
    "who",
    "where",
    "define",
    "steps",
    "items",
    "compare",
    "why",
]
CUES: tuple[Cue, ...] = get_args(Cue)


@lru_cache(maxsize=1_000)
def cues_in(question: str, code: str) -> frozenset[Cue]:
    """The cues that stand in a question of the language `code`."""
    found = language(code).cues
    return frozenset(name for name in CUES if name in found and found[name].search(question))
