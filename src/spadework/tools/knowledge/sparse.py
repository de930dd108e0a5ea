"""Texts as sparse vectors, so that a vector store ranks by BM25: the store knows how rare a word
is, the vector how often it stands there.

Words are stems under a hash of 32 bits; nothing has to be learned or downloaded, and two writers
agree without speaking to each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from spadework.tools.library.schema import signed_terms, spread, word_analyzer

#: The constants of BM25, and how many words a passage has on average: each vector is made without
#: knowing the others.
K1, B = 1.2, 0.75
AVERAGE_WORDS = 200


def passage_vector(title: str, heading: str, body: str) -> tuple[list[int], list[float]]:
    """Indices and values of a passage: the part of BM25 that needs no other passage, for words of
    the body, the headings and the title.
    """
    words = _words(body)
    counts = Counter([*words, *_words(heading), *_words(title)])
    norm = K1 * (1 - B + B * len(words) / AVERAGE_WORDS)
    return _pack_weights(
        {word: count * (K1 + 1) / (count + norm) for word, count in counts.items()}
    )


def query_vector(words: Iterable[tuple[str, float]]) -> tuple[list[int], list[float]]:
    """Indices and values of a query: each stem with its weight."""
    return _pack_weights(dict(words))


def _words(text: str) -> list[str]:
    return [*word_analyzer().analyze(spread(text)), *signed_terms(text)]


def _pack_weights(weights: dict[str, float]) -> tuple[list[int], list[float]]:
    hashed: dict[int, float] = {}
    for word, weight in weights.items():
        index = int.from_bytes(
            hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
        )
        hashed[index] = hashed.get(index, 0.0) + weight
    return sorted(hashed), [round(hashed[index], 4) for index in sorted(hashed)]
