"""Which of the texts at hand fit a query best: BM25 over the texts themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from spadework.tools.facts import content_words

#: The usual constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
#: 2009).
K1 = 1.2
B = 0.75


class Bm25:
    """The word counts of some texts, ready to be scored for queries."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._documents = [Counter(content_words(text)) for text in texts]
        lengths = [sum(document.values()) for document in self._documents]
        mean = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._norms = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holding = Counter(word for document in self._documents for word in document)

    def scores(self, query: str) -> list[float]:
        """The score of every text, in their order; 0 where no word is shared. A word that stands
        twice in the query counts once.
        """
        scores = [0.0] * len(self._documents)
        for word in dict.fromkeys(
            content_words(query)
        ):  # in the query's order: sums of floats depend on theirs
            holding = self._holding[word]
            idf = math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))
            for n, document in enumerate(self._documents):
                if times := document.get(word, 0):
                    scores[n] += idf * times * (K1 + 1) / (times + self._norms[n])
        return scores
