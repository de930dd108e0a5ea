"""The program to beat: one search, the first five pages, the ten sentences that share most with the
question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

PAGES, SENTENCES, LEAST_WORDS = 5, 10, 5
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def best_sentences(
    question: str, pages: Sequence[str], stems: Callable[[str], set[str]], most: float = math.inf
) -> list[str]:
    """The ten best sentences of the texts of the pages (best page first), in the order of the
    pages; of them the best that have at most `most` characters together.

    Stems s of the question weigh idf(s) = ln(1 + N / (df(s) + .5)) over the pool of sentences of
    five words and more; a sentence scores the sum of the idf of the stems it shares
    / (1 + .15 ln(1 + stems in it)) x (1 + .5 / (1 + rank of its page)).
    """
    pool = [
        (rank, at, sentence, stems(sentence))
        for rank, page in enumerate(pages)
        for at, sentence in enumerate(part.strip() for part in _ENDS.split(page))
        if len(sentence.split()) >= LEAST_WORDS or len(sentence) > 6 * LEAST_WORDS
    ]
    asked = stems(question)
    df = Counter(stem for *_, own in pool for stem in own & asked)
    idf = {stem: math.log(1 + len(pool) / (df[stem] + 0.5)) for stem in asked}

    def score(rank: int, own: set[str]) -> float:
        shared = math.fsum(idf[stem] for stem in own & asked)
        return shared / (1 + 0.15 * math.log(1 + len(own))) * (1 + 0.5 / (1 + rank))

    ranked = sorted(pool, key=lambda one: -score(one[0], one[3]))[:SENTENCES]
    kept, used = [], 0
    for one in ranked:
        if used + len(one[2]) <= most or not kept:
            kept.append(one)
            used += len(one[2]) + 1
    return [sentence for _, _, sentence, _ in sorted(kept, key=lambda one: one[:2])]
