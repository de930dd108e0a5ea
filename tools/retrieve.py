"""Which passages of the pages at hand fit a topic best: BM25 over the passages themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from spadework.tools.facts import content_words

#: The usual constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
K1 = 1.2
B = 0.75


def bm25(query: str, texts: Sequence[str]) -> list[float]:
    """The BM25 score of every text for the words of `query`, in the order of `texts`; 0 where no word is shared."""
    documents = [Counter(content_words(text)) for text in texts]
    if not documents:
        return []
    lengths = [sum(d.values()) for d in documents]
    mean = max(1.0, sum(lengths) / len(lengths))
    scores = [0.0] * len(documents)
    for term in set(content_words(query)):
        holding = sum(1 for d in documents if term in d)
        if not holding:
            continue
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for n, document in enumerate(documents):
            times = document[term]
            scores[n] += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[n] / mean))
    return scores
