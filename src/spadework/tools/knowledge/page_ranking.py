"""From passages that an index has found to pages, best first: by the library's ranking, the same
whatever the index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.tools.dense.vectors import Near
from spadework.tools.knowledge.entry import Entry, Recalled, merge_spans
from spadework.tools.library.document import Document
from spadework.tools.library.near import blend_rankings, with_near
from spadework.tools.library.query import Asked
from spadework.tools.library.ranking import Match, Ranked, rank
from spadework.tools.library.snippet import snippet

#: A question of fewer telling words counts as one of so many: all of a few words stand in many
#: pages that are about something else.
FEW_WORDS = 3


def document(entry: Entry) -> Document:
    """A page as the library's ranking knows it."""
    return Document(entry.page.url, entry.page.title, entry.text, entry.page.published_at)


def answer(
    matches: Sequence[Match],
    known: Mapping[int, Entry],
    question: Asked,
    weights: Mapping[str, float],
    limit: int,
    near: Sequence[Near] = (),
) -> list[Recalled]:
    """At most `limit` pages of those `known` by number that have a match or are near. `weights`
    says how rare each term is.
    """
    documents = {number: document(entry) for number, entry in known.items()}
    there = with_near([match for match in matches if match.number in known], near, documents)
    spans: dict[int, list[tuple[int, int]]] = {}
    for match in there:
        spans.setdefault(match.number, []).append((match.start, match.end))
    words = {word for term in question.terms for word in term.words}
    tells = min(1.0, sum(term.needed for term in question.terms) / FEW_WORDS)
    best = blend_rankings(rank(there, documents, question, weights), near, documents)[:limit]
    return [
        _recall_entry(known[one.best.number], one, one.own * tells, words, spans[one.best.number])
        for one in best
    ]


def _recall_entry(
    entry: Entry, one: Ranked, share: float, words: set[str], spans: Sequence[tuple[int, int]]
) -> Recalled:
    shown = snippet(entry.text[one.best.start : one.best.end], words)
    return Recalled(entry, shown, round(share, 3), merge_spans(spans))
