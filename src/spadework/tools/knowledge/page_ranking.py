"""From passages found to pages, best first, by the library's ranking whatever the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.tools.dense.vectors import Near
from spadework.tools.knowledge.entry import Entry, Recalled, merge_spans
from spadework.tools.library.document import Document
from spadework.tools.library.query import Asked
from spadework.tools.library.ranking import Match, Ranked, rank, snippet
from spadework.tools.library.search import blend_rankings, with_near

#: Fewer telling words count as so many: all of a few stand in many unrelated pages.
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
    """At most `limit` of the `known` pages that match or are near. `weights`: terms' rarity."""
    documents = {number: document(entry) for number, entry in known.items()}
    there = with_near([match for match in matches if match.number in known], near, documents)
    spans: dict[int, list[tuple[int, int]]] = {}
    for match in there:
        spans.setdefault(match.number, []).append((match.start, match.end))
    words = {word for term in question.terms for word in term.words}
    tells = min(1.0, sum(term.needed for term in question.terms) / FEW_WORDS)
    best = blend_rankings(rank(there, documents, question, weights), near, documents)[:limit]

    def recalled(one: Ranked) -> Recalled:
        entry = known[one.best.number]
        shown = snippet(entry.text[one.best.start : one.best.end], words)
        merged = merge_spans(spans[one.best.number])
        return Recalled(entry, shown, round(one.own * tells, 3), merged)

    return [recalled(one) for one in best]
