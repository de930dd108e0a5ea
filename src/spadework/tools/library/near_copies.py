"""A small sketch of every text, by which copies are found among the results of a search."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable
from typing import TypeVar

from spadework.tools.ranking.near_duplicates import resemblance as similarity

#: A text is taken as its clauses, of letters alone: other numbers, spaces and marks make no other
#: text. Shorter ones say nothing.
_ENDS = b".!?,;:()\n"
_AS_LINES = bytes.maketrans(_ENDS, b"\n" * len(_ENDS))
_LEFT_OUT = bytes(sign for sign in range(128) if not chr(sign).isalpha() and sign not in _ENDS)
_CLAUSE = 12
#: Hashes of clauses that are kept, the smallest: a fair sample (Broder 1997). With fewer than the
#: least, texts are too short to be judged.
_SAMPLE, _LEAST = 48, 4
#: The share of common hashes from which two texts are copies.
COPY = 0.7

T = TypeVar("T")


def sketch(text: str) -> bytes:
    """The smallest hashes of the clauses of a text, 4 bytes each, sorted."""
    clauses = set(
        text.lower().encode(errors="replace").translate(_AS_LINES, _LEFT_OUT).split(b"\n")
    )
    found = sorted({zlib.crc32(clause) for clause in clauses if len(clause) >= _CLAUSE})
    return array("I", found[:_SAMPLE]).tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """The estimated share of two texts in common, 0..1, by sketches; 0 for too short ones."""
    a, b = frozenset(array("I", one)), frozenset(array("I", other))
    return similarity(a, b, _SAMPLE) if min(len(a), len(b)) >= _LEAST else 0.0


def without_copies(ranked: Iterable[T], sketch_of: Callable[[T], bytes], most: int) -> list[T]:
    """At most `most` items in their order, none a copy of one above it."""
    kept: list[T] = []
    sketches: list[bytes] = []
    for item in ranked:
        if len(kept) >= most:
            break
        own = sketch_of(item)
        if all(resemblance(other, own) < COPY for other in sketches):
            kept.append(item)
            sketches.append(own)
    return kept
