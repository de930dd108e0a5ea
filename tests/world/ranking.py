"""How the search engine of the world ranks and shows pages: by the terms that a query and a page
share.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable

from tests.world.document import Document

_WORD = re.compile(r"[^\W_]+(?:[.+#'-][^\W_]+)*\+*")
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "do",
        "does",
        "for",
        "how",
        "i",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "use",
        "what",
    ]
)

#: Characters of a snippet.
SNIPPET = 220


def terms(text: str) -> list[str]:
    """The words of a text that carry meaning, in lower case, a plural's s dropped."""
    return [
        word.removesuffix("s") if len(word) > 3 else word
        for word in _WORD.findall(text.casefold())
        if word not in _STOP
    ]


@functools.lru_cache(10_000)
def counted(text: str) -> Counter[str]:
    """How often each term stands in a text."""
    return Counter(terms(text))


def ranked(query: str, documents: Iterable[Document]) -> list[Document]:
    """The documents that share a term with `query`, best first: rare terms weigh more, a term in
    the title three times as much.
    """
    pages, wanted = list(documents), set(terms(query))
    among = Counter(
        term
        for page in pages
        for term in wanted & (counted(page.title).keys() | counted(page.text).keys())
    )

    def score(page: Document) -> float:
        title, text = counted(page.title), counted(page.text)
        return sum(
            (3 * min(title[term], 1) + math.log1p(text[term])) / math.sqrt(among[term])
            for term in wanted
            if among[term]
        )

    best = sorted(pages, key=lambda page: (-score(page), page.site, page.path))
    return [page for page in best if score(page) > 0]


def snippet(query: str, text: str) -> str:
    """The stretch of `text` in which the terms of `query` stand closest."""
    wanted = set(terms(query))
    starts = [0, *(place.start() for place in re.finditer(r"(?<=[.!?]) ", text))]
    best = max(starts, key=lambda at: len(wanted & set(terms(text[at : at + SNIPPET]))))
    return " ".join(text[best : best + SNIPPET].split())
