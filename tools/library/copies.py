"""Documents that say nearly the same: a small sketch of every text, by which its copies are found among the results of a search."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Callable, Iterable
from typing import TypeVar

#: Words in a shingle; one in `_EACH` words begins one that is looked at (chosen by its hash, so that copies choose alike).
_SHINGLE, _EACH = 4, 4
#: Hashes kept of a text, the smallest: a fair sample (Broder 1997). With fewer, texts are too short to be judged.
_SAMPLE, _LEAST = 48, 6
#: The share of common hashes from which two texts are copies.
COPY = 0.7

T = TypeVar("T")
_WORD = re.compile(r"[^\W\d_]{2,}")


def sketch(text: str) -> bytes:
    """The smallest hashes of a sample of a text's word shingles, 4 bytes each, sorted; numbers do not count as words."""
    words = [word.encode(errors="replace") for word in _WORD.findall(text.lower())]
    hashes = {word: zlib.crc32(word) for word in set(words)}
    starts = [at for at, word in enumerate(words[: 1 - _SHINGLE]) if not hashes[word] % _EACH]
    found = sorted({zlib.crc32(b" ".join(words[at : at + _SHINGLE])) for at in starts})
    return array("I", found[:_SAMPLE]).tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """The estimated share of what two texts have in common, 0..1, by their sketches; 0 for texts too short to tell."""
    a, b = set(array("I", one)), set(array("I", other))
    if min(len(a), len(b)) < _LEAST:
        return 0.0
    smallest = set(sorted(a | b)[:_SAMPLE])
    return len(smallest & a & b) / len(smallest)


def without_copies(ranked: Iterable[T], sketch_of: Callable[[T], bytes], most: int) -> list[list[T]]:
    """At most `most` groups, best first: each an item and those below it that are its copies."""
    groups: list[list[T]] = []
    for item in ranked:
        own = sketch_of(item)
        group = next((each for each in groups if resemblance(sketch_of(each[0]), own) >= COPY), None)
        if group is not None:
            group.append(item)
        elif len(groups) < most:
            groups.append([item])
    return groups
