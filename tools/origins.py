"""Independent origins: near-copies of one text count as one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

#: Words in a shingle, and the share of shared shingles from which two texts are copies of one.
SHINGLE = 5
COPY = 0.6
#: Shingles kept a text: the smallest by hash, a fair sample of all (Broder 1997).
SAMPLE = 400

_WORD = re.compile(r"\w+")


def sketch(text: str) -> frozenset[int]:
    """The smallest hashes of the word shingles of a text. Digits count as one sign, so that a copy with changed numbers is a copy."""
    words = [re.sub(r"\d+", "0", word) for word in _WORD.findall(text.lower())]
    shingles = {" ".join(words[n : n + SHINGLE]) for n in range(max(1, len(words) - SHINGLE + 1))}
    hashes = sorted(int.from_bytes(hashlib.blake2b(s.encode(), digest_size=8).digest(), "big") for s in shingles)
    return frozenset(hashes[:SAMPLE])


def resemblance(a: frozenset[int], b: frozenset[int]) -> float:
    """The estimated Jaccard resemblance of two texts by their sketches, 0..1."""
    smallest = set(sorted(a | b)[:SAMPLE])
    return len(smallest & a & b) / len(smallest) if smallest else 1.0


def origins(texts: Mapping[str, str]) -> dict[str, str]:
    """For every key of `texts` the key of the first text that it is a near-copy of, itself if of none."""
    found: dict[str, str] = {}
    sketches: dict[str, frozenset[int]] = {}
    for key, text in texts.items():
        own = sketch(text)
        match = next((first for first, other in sketches.items() if resemblance(own, other) >= COPY), key)
        if match == key:
            sketches[key] = own
        found[key] = match
    return found
