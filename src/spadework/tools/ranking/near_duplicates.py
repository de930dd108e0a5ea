"""Find near-duplicates: copies and excerpts, even with changed numbers or reordered text."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from spadework.deadline import Late

#: Words per shingle.
SHINGLE = 5
#: Fraction of shingles that two texts must share to be copies.
COPY = 0.6
#: Fraction of an excerpt's shingles found in the other text, and the minimum of comparable
#: shingles.
EXCERPT, EXCERPT_LEAST = 0.8, 20
#: Minimum words of a scrambled copy, and the fraction of its counted words found in the other text.
SCRAMBLED_WORDS, SCRAMBLED = 30, 0.85
#: Shingles kept per text. The smallest hashes are an unbiased sample (Broder 1997).
SAMPLE = 400

Sketch = frozenset[int]
_WORD, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")


def sketch(text: str) -> Sketch:
    """Return the smallest hashes of a text's shingles.
    All digits are equal, because numbers may change.
    """
    words = _words(text)
    return _sample(
        " ".join(words[n : n + SHINGLE]) for n in range(max(1, len(words) - SHINGLE + 1))
    )


def bag(text: str) -> Sketch:
    """Return the smallest hashes of a text's counted words, or none if it is too short to judge."""
    words = _words(text)
    if len(words) < SCRAMBLED_WORDS:
        return frozenset()
    times = Counter(words).items()
    return _sample(f"{word} {n}" for word, count in times for n in range(1, count + 1))


def resemblance(a: Sketch, b: Sketch, sample: int = SAMPLE) -> float:
    """Return an estimate of two texts' Jaccard similarity from their sketches, 0..1."""
    smallest = set(sorted(a | b)[:sample])
    return len(smallest & a & b) / len(smallest) if smallest else 1.0


def containment(part: Sketch, whole: Sketch) -> float:
    """Return the estimated fraction of `part` in `whole`, 0..1; 0 if too little is comparable."""
    last = max(whole, default=0)
    seen = {shingle for shingle in part if len(whole) < SAMPLE or shingle <= last}
    return len(seen & whole) / len(seen) if len(seen) >= EXCERPT_LEAST else 0.0


def group_near_duplicates(texts: Mapping[str, str], late: Late = lambda: False) -> dict[str, str]:
    """Map each key to the first key whose text it copies or excerpts, or to itself.
    Comparing stops when `late` returns True.
    """
    found = {key: key for key in texts}
    firsts: list[tuple[str, Sketch, Sketch]] = []
    # Index the first texts by hash, so that only texts with enough in common are compared.
    shingles, words = (defaultdict[int, list[int]](list) for _ in "ab")
    for key, text in texts.items():
        if late():
            break
        own, bagged = sketch(text), bag(text)
        shared, same = _count_shared(own, shingles), _count_shared(bagged, words)
        for n in sorted(shared.keys() | same.keys()):
            first, other, others = firsts[n]
            if _copies(own, other, shared[n]) or _scrambles(bagged, others, same[n]):
                found[key] = first
                break
        else:
            for held, own_hashes in ((shingles, own), (words, bagged)):
                for each in own_hashes:
                    held[each].append(len(firsts))
            firsts.append((key, own, bagged))
    return found


def _count_shared(own: Sketch, held: Mapping[int, Sequence[int]]) -> Counter[int]:
    return Counter(chain.from_iterable(held.get(each, ()) for each in own))


def _copies(a: Sketch, b: Sketch, shared: int) -> bool:
    if shared >= COPY * max(len(a), len(b)) and resemblance(a, b) >= COPY:
        return True
    enough = shared >= EXCERPT * EXCERPT_LEAST
    return enough and max(containment(a, b), containment(b, a)) >= EXCERPT


def _scrambles(words: Sketch, others: Sketch, shared: int) -> bool:
    enough = shared >= SCRAMBLED * max(1, len(words), len(others))
    return enough and resemblance(words, others) >= SCRAMBLED


def _words(text: str) -> list[str]:
    return _WORD.findall(_DIGITS.sub("0", text.lower()))


def _sample(parts: Iterable[str]) -> Sketch:
    digests = {hashlib.blake2b(part.encode(), digest_size=8).digest() for part in parts}
    return frozenset(int.from_bytes(digest, "big") for digest in sorted(digests)[:SAMPLE])
