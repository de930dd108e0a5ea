"""Search of a built library: by words, and by vectors if it has them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import tantivy

from spadework.errors import ModelError
from spadework.tools.dense.passage_vectors import Meaning
from spadework.tools.dense.vectors import MOST_PLACES, Near, Passage, Vectors
from spadework.tools.library.document import Document, StoreReader, pieces, without_copies
from spadework.tools.library.document_ranking import Match, Ranked, rank, snippet
from spadework.tools.library.full_text import (
    Asked,
    Limits,
    Term,
    about,
    all_of,
    any_of,
    kept_to,
    no_panic,
    open_index,
    parse_question,
    query_documents,
    rarest_terms,
)
from spadework.tools.ranking.fusion import rank_scores
from spadework.tools.ranking.query_operators import only, without_operators

#: Passages proposed by vectors, and their ranking's weight in the fusion relative to words.
PROPOSED, WEIGHT = 120, 0.7

#: Returns the passages nearest to a question, given the word matches and a filter of documents
#: (None: all).
Nearest = Callable[[Sequence[Match], Collection[int] | None], list[Near]]


def no_passages(matches: Sequence[Match], within: Collection[int] | None) -> list[Near]:
    """Return no passages, as there are no vectors."""
    return []


@dataclass(frozen=True)
class Dense:
    """An index's vectors and the model for questions. `mend` states how to create the vectors."""

    vectors: Vectors
    meaning: Meaning
    mend: str = ""

    async def nearest(self, question: str) -> Nearest:
        """Return a function that finds the nearest passages. A fault is reported and disables
        vectors only.
        """
        try:
            count = await asyncio.to_thread(self.vectors.count, MOST_PLACES + 1)
        except ModelError as error:
            self.meaning.fail(error)
            return no_passages
        if count > MOST_PLACES:
            self.meaning.tell(
                f"There are more than {MOST_PLACES:,} passages.",
                "Only what words had found was ranked by it.",
            )
        elif not count and self.mend:
            self.meaning.tell(
                f"The documents have no vectors of this model: {self.mend}",
                "They were searched by words alone.",
            )
        vector = await self.meaning.of(question) if count else None
        return partial(self._nearest, vector, count > MOST_PLACES) if vector else no_passages

    def _nearest(
        self,
        vector: list[float],
        few: bool,
        matches: Sequence[Match],
        within: Collection[int] | None,
    ) -> list[Near]:
        among = [(match.number, match.start) for match in matches] if few else None
        try:
            return self.vectors.nearest(vector, PROPOSED, among, within)
        except ModelError as error:
            self.meaning.fail(error)
            return []


def passages(number: int, document: Document) -> list[Passage]:
    """Return a document's passages for an embedder, each with its headings."""
    found = []
    for piece in pieces(document):
        body = document.markdown[piece.start : piece.end]
        text = f"{document.title}\n{piece.heading}\n{body}"
        found.append(Passage(number, piece.start, piece.end, text, body))
    return found


def with_near(
    matches: Sequence[Match], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Match]:
    """Add to the word matches the nearest passage of every other document, with score 0."""
    known = {match.number for match in matches}
    nearest: dict[int, Near] = {}
    for one in near:
        if one.number not in known and _stands(one, documents):
            nearest.setdefault(one.number, one)
    return [*matches, *(Match(one.number, one.start, one.end, 0.0) for one in nearest.values())]


def blend_rankings(
    ranked: list[Ranked], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Ranked]:
    """Fuse both rankings; without near passages, return the word ranking."""
    if not near:
        return ranked
    by_words = [each.best.number for each in ranked if each.best.score]
    by_meaning = dict.fromkeys(one.number for one in near if _stands(one, documents))
    scores = rank_scores([by_words, by_meaning], weights=[1.0, WEIGHT])
    # Documents found only by subject have no score and are in neither ranking.
    return sorted(ranked, key=lambda each: -scores.get(each.best.number, 0.0))


def _stands(one: Near, documents: Mapping[int, Document]) -> bool:
    return one.number in documents and one.stands_in(documents[one.number].markdown)


#: Passages proposed per query: with any term, with all terms, about a named subject, and from the
#: `_CENTRAL` documents of a named package that examples use most.
_PROPOSED, _WITHIN, _CENTRAL = (120, 60, 20), 40, 6


@dataclass(frozen=True)
class Found:
    """A document that answers a question, with its best passage as plain text. `score` is 0..1."""

    document: Document
    snippet: str
    score: float


class Searcher:
    """Searches one built folder; thread-safe."""

    def __init__(self, folder: Path, understood: frozenset[str] = frozenset()) -> None:
        self.store = StoreReader(folder)
        with no_panic():
            self._searcher = open_index(folder / "index").searcher()
        self._understood = understood

    @property
    def passages(self) -> int:
        """The number of passages in the index."""
        return int(self._searcher.num_docs)

    def search(self, text: str, limit: int, nearest: Nearest = no_passages) -> list[Found]:
        """Return at most `limit` documents with a word of the question or near it, best first, no
        copies.

        Operators filter the results (see `Only`). Raises SearchError for an invalid one.
        """
        question = parse_question(without_operators(text), self._understood)
        within = kept_to(only(text))
        if not question.terms or limit < 1:
            return []
        weights = {term.text: rarity(self._searcher, term) for term in question.terms}
        question = rarest_terms(question, weights)
        with no_panic():
            matches = list(self._matches(question, within))
        kept = self._documents(within) if within and nearest is not no_passages else None
        near = nearest(matches, kept)
        numbers = {match.number for match in matches} | {one.number for one in near}
        stored = self.store.by_numbers(sorted(numbers))
        documents = {number: document for number, (document, _) in stored.items()}
        ranked = rank(with_near(matches, near, documents), documents, question, weights)
        ranked = blend_rankings(ranked, near, documents)
        best = without_copies(ranked, lambda each: stored[each.best.number][1], limit)
        return _show_documents(best, question)

    def _matches(self, question: Asked, kept: Limits) -> Iterator[Match]:
        yield from propose_passages(self._searcher, question, _PROPOSED, kept)
        if central := self.store.most_used(question.names, _CENTRAL):
            query = query_documents(central, question.terms)
            yield from find_passages(self._searcher, query, _WITHIN, kept)

    def _documents(self, kept: Limits) -> set[int]:
        everything = (tantivy.Occur.Must, tantivy.Query.all_query())
        wanted = tantivy.Query.boolean_query([everything, *kept])
        hits = self._searcher.search(wanted, max(1, self.passages), count=False).hits
        addresses = [address for _, address in hits]
        numbers = self._searcher.fast_field_values("document", addresses)
        return {int(number) for number in numbers if number}


def propose_passages(
    searcher: tantivy.Searcher, question: Asked, most: tuple[int, int, int], kept: Limits
) -> Iterator[Match]:
    """Yield passages with any term, with all needed terms, and about a named subject, up to `most`
    each.
    """
    yield from find_passages(searcher, any_of(question.terms), most[0], kept)
    if sum(term.needed for term in question.terms) > 1:
        yield from find_passages(searcher, all_of(question.terms), most[1], kept)
    if question.subjects:
        query = about(question.subjects, question.terms)
        yield from find_passages(searcher, query, most[2], kept)


def find_passages(
    searcher: tantivy.Searcher, query: tantivy.Query, most: int, kept: Limits
) -> Iterator[Match]:
    """Yield the best passages for a query within the filters."""
    must = (tantivy.Occur.Must, query)
    wanted = tantivy.Query.boolean_query([must, *kept]) if kept else query
    hits = searcher.search(wanted, most, count=False).hits
    places = [
        searcher.fast_field_values(name, [address for _, address in hits])
        for name in ("document", "start", "end")
    ]
    for (score, _), number, start, end in zip(hits, *places, strict=True):
        yield Match(number, start, end, score)


def rarity(searcher: tantivy.Searcher, term: Term, others: int = 0) -> float:
    """Return a term's rarity (BM25's inverse document frequency), with `others` more passages
    without it.
    """
    counts = [searcher.doc_freq("body", word) for word in term.words] if not term.signed else []
    count = min(counts, default=searcher.doc_freq("signed", term.text))
    return math.log(1 + (searcher.num_docs + others - count + 0.5) / (count + 0.5))


def _show_documents(ranked: list[Ranked], question: Asked) -> list[Found]:
    """Return the results to show. Scores combine the share of the question with the match relative
    to the best.
    """
    words = {word for term in question.terms for word in term.words}
    best = max((each.score for each in ranked), default=0.0) or 1.0
    found = []
    for each in ranked:
        passage = each.document.markdown[each.best.start : each.best.end]
        score = round(each.share * (0.5 + 0.5 * each.score / best), 3)
        found.append(Found(each.document, snippet(passage, words), score))
    return found
