"""BM25 over a small set of texts, with the statistics of those texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from spadework.tools.text.language import DEFAULT
from spadework.tools.text.terms import terms

#: The usual constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
#: 2009).
K1 = 1.2
B = 0.75


class Bm25:
    """Word counts of texts, ready for queries. `languages` are the texts' language codes; English
    by default.
    """

    def __init__(self, texts: Sequence[str], languages: Iterable[str] = ()) -> None:
        self._languages = [*languages] or [DEFAULT] * len(texts)
        self._documents = [
            Counter(terms(text, code)) for text, code in zip(texts, self._languages, strict=True)
        ]
        lengths = [sum(document.values()) for document in self._documents]
        mean = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._norms = [K1 * (1 - B + B * length / mean) for length in lengths]
        self._holding = Counter(word for document in self._documents for word in document)

    def scores(self, query: str) -> list[float]:
        """Return the score of every text, in order; 0 if no word matches. The query is tokenized in
        each text's language, and repeated words count once.
        """
        # in the query's order: float sums depend on it
        asked = {code: [*dict.fromkeys(terms(query, code))] for code in set(self._languages)}
        words = {word for own in asked.values() for word in own}
        rare = {word: self._rarity(word) for word in words}
        languages = enumerate(self._languages)
        return [sum(rare[w] * self._weight(w, n) for w in asked[code]) for n, code in languages]

    def _rarity(self, word: str) -> float:
        holding = self._holding[word]
        return math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))

    def _weight(self, word: str, n: int) -> float:
        times = self._documents[n].get(word, 0)
        return times * (K1 + 1) / (times + self._norms[n])
