"""Texts as sparse vectors, so that a vector store ranks by BM25: the store knows how rare a word
is, the vector how often it stands there. Words are stems under a hash of 32 bits; nothing is
learned or downloaded, and two writers agree.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from spadework.tools.library.schema import signed_terms, spread, word_analyzer

#: BM25's constants, and the average words of a passage: no vector knows the others.
K1, B = 1.2, 0.75
AVERAGE_WORDS = 200


def passage_vector(title: str, heading: str, body: str) -> tuple[list[int], list[float]]:
    """A passage's indices and values: the part of BM25 that needs no other passage."""
    words = _words(body)
    counts = Counter([*words, *_words(heading), *_words(title)])
    norm = K1 * (1 - B + B * len(words) / AVERAGE_WORDS)
    weights = {word: count * (K1 + 1) / (count + norm) for word, count in counts.items()}
    return _pack_weights(weights)


def query_vector(words: Iterable[tuple[str, float]]) -> tuple[list[int], list[float]]:
    """Indices and values of a query: each stem with its weight."""
    return _pack_weights(dict(words))


def _words(text: str) -> list[str]:
    return [*word_analyzer().analyze(spread(text)), *signed_terms(text)]


def _pack_weights(weights: dict[str, float]) -> tuple[list[int], list[float]]:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
        index = int.from_bytes(digest)
        hashed[index] = hashed.get(index, 0.0) + weight
    return sorted(hashed), [round(hashed[index], 4) for index in sorted(hashed)]
