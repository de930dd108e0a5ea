"""Search a library by words and, if it has vectors, by meaning."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import tantivy

from spadework.errors import ModelError
from spadework.tools.library.document import (
    Document,
    StoreReader,
    packages_of,
    pieces,
    plain_name,
    without_copies,
)
from spadework.tools.library.full_text import (
    Asked,
    Limits,
    StemFinder,
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
    signed_terms,
    spread,
    subject,
)
from spadework.tools.ranking.embedder import Meaning
from spadework.tools.ranking.query_operators import only, without_operators
from spadework.tools.ranking.relevance import rank_scores
from spadework.tools.ranking.vectors import MOST_PLACES, Near, Passage, Vectors
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.sentences import sentences

#: A passage keeps this fraction of its full-text score even if it contains none of the question's
#: needed terms. The value was chosen with benchmarks/installed.py.
_FLOOR = 0.1
#: The part of the score above `_FLOOR` is multiplied by the fraction of needed terms found, raised
#: to this power.
_POWER = 3
#: If a question has at most this many needed terms, documents with all of them come first.
_FEW = 2
_WHOLE = 1 - 1e-9
#: Score factors for a document whose subject the question names, and for a document whose package
#: it names.
_SUBJECT = 1.4
_PACKAGE = 1.3
#: Minimum `Ranked.share` of a document about one side of a comparison.
_SIDE = 0.75
#: The weight of each further passage in a document's score. The best passage has weight 1.
_FURTHER = 0.05
#: Score factors for documents with code (if the question asks how to do something), for outdated
#: documents, and for documents of the standard library. The values were chosen with
#: benchmarks/installed.py.
_CODE = 1.2
_OUTDATED = 0.75
_STANDARD = 1.2
#: Each doubling of `Document.uses` raises a document's score by the fraction _USED. The total gain
#: is at most _MOST_USED.
_USED = 0.1
_MOST_USED = 0.5

_STANDARD_LIBRARY = re.compile(r"library://python-\d")
_OLD = re.compile(r"/(?:v1|legacy|deprecated|distutils|_?compat)[/.]")
_OPENS = re.compile(r"/(?:readme|index)[^/]*$", re.I)
_MODULE = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)(?:/__init__\.pyi?|\.pyi?|$)")


@dataclass(frozen=True)
class Match:
    """A matching passage, `start:end` of document `number`, with its score."""

    number: int
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Ranked:
    """A document with its best passage and score.
    - `own`: the weighted fraction (0..1) of the needed terms found.
    - `share`: `own`, but with a minimum for a document about one side of a comparison.
    - `introduces`: true if the document introduces a subject of the question.
    """

    document: Document
    best: Match
    score: float
    share: float
    introduces: bool
    own: float


def rank(
    matches: Sequence[Match],
    documents: Mapping[int, Document],
    question: Asked,
    weights: Mapping[str, float],
) -> list[Ranked]:
    """Rank documents by their matches, best first. `weights` are the terms' rarities."""
    grouped: dict[int, dict[int, Match]] = {}
    for match in matches:
        grouped.setdefault(match.number, {})[match.start] = match
    judge = _Judge(question, weights)
    groups = ((documents[number], list(found.values())) for number, found in grouped.items())
    ranked = [judge.document(*group) for group in groups]
    ranked = _balance_sides(ranked, question) if question.comparing else ranked
    only_named = _only_named(ranked, question)
    few = sum(term.needed for term in question.terms) <= _FEW and not question.comparing
    return sorted(
        ranked,
        key=lambda each: (
            only_named and not each.introduces,
            few and each.share < _WHOLE,
            -each.score,
            each.document.url,
        ),
    )


def _balance_sides(ranked: list[Ranked], question: Asked) -> list[Ranked]:
    """Balance the scores of both sides of a comparison. Otherwise, the rarer name would win."""
    sides = {each.document.url: _side(each, question) for each in ranked}
    best: dict[str, float] = {}
    for each in ranked:
        side = sides[each.document.url]
        best[side] = max(best.get(side, 1e-9), each.score)
    most = max((score for side, score in best.items() if side), default=0.0)
    return [
        (
            replace(each, score=each.score * most / best[side], share=max(each.share, _SIDE))
            if (side := sides[each.document.url])
            else each
        )
        for each in ranked
    ]


def _side(each: Ranked, question: Asked) -> str:
    named = sorted(packages_of(each.document.url) & question.names)
    return named[0] if named else subject(each.document.title) if each.introduces else ""


def _only_named(ranked: list[Ranked], question: Asked) -> bool:
    """Return whether the title of a document that introduces a subject contains all needed words of
    the question. In a comparison, several titles may contain them together.
    """
    named = [set(subject(each.document.title).split()) for each in ranked if each.introduces]
    covers = [set[str]().union(*named)] if question.comparing else named
    needed = {word for term in question.terms if term.needed for word in term.words}
    return any(each.issuperset(needed) for each in covers)


class _Judge:
    def __init__(self, question: Asked, weights: Mapping[str, float]) -> None:
        self.question = question
        self.needed = [(term, weights[term.text]) for term in question.terms if term.needed]
        self.signed = any(term.signed for term, _ in self.needed)
        self.total = math.fsum(weight for _, weight in self.needed)
        self.names = question.names
        self.stems = StemFinder(word for term, _ in self.needed for word in term.words)

    def document(self, document: Document, found: list[Match]) -> Ranked:
        title = self.stems.find(spread(document.title))
        shares = {match.start: self._share(document, match, title) for match in found}
        weights = {match.start: _weigh_match(match, shares[match.start]) for match in found}
        found = sorted(found, key=lambda match: (-weights[match.start], match.start))
        scores = [weights[match.start] for match in found[:4]]
        score = (scores[0] + _FURTHER * math.fsum(scores[1:])) * self._prior(document)
        page = _OPENS.search(document.url) or _MODULE.match(document.url)
        opens = ": " not in document.title or bool(page)
        share = shares[found[0].start]
        return Ranked(document, found[0], score, share, opens and self._named(document), share)

    def _share(self, document: Document, match: Match, title: set[str]) -> float:
        text = document.markdown[match.start : match.end]
        words = title | self.stems.find(spread(text))
        signs = set(signed_terms(f"{document.title} {text}")) if self.signed else set()
        here = math.fsum(
            weight
            for term, weight in self.needed
            if (term.text in signs if term.signed else words.issuperset(term.words))
        )
        return here / self.total if self.total else 0.0

    def _prior(self, document: Document) -> float:
        prior = _OUTDATED if _OLD.search(document.url) else 1.0
        prior *= _STANDARD if _STANDARD_LIBRARY.match(document.url) else 1.0
        prior *= _CODE if self.question.practical and "```" in document.markdown else 1.0
        prior *= _SUBJECT if self._named(document) else 1.0
        prior *= 1 + min(_MOST_USED, _USED * math.log2(1 + document.uses))
        return prior * (_PACKAGE if self.names.intersection(packages_of(document.url)) else 1.0)

    def _named(self, document: Document) -> bool:
        about = subject(document.title)
        if about not in self.question.subjects:
            return False
        return (
            " " in about
            or not packages_of(document.url)
            or plain_name(document.title.partition(":")[0]) in self.names
        )


def _weigh_match(match: Match, share: float) -> float:
    return match.score * (_FLOOR + (1 - _FLOOR) * share**_POWER)


MAX_CHARS = 300
_SENTENCES = 6
#: Characters used in Markdown markup. A text without them is already plain.
_MARKED = re.compile(r"[*_`\[\]<>\\&~!|#]")


def snippet(passage: str, words: set[str]) -> str:
    """Return at most 300 characters of plain text with as many of the stems `words` as possible."""
    shown = [_flat(passage[start:end]) for start, end in sentences(passage)] or [
        _flat(_body(passage))
    ]
    finder = StemFinder(words)
    found = [finder.find(text) for text in shown]
    best = max(range(len(shown)), key=lambda first: _count_seen(shown, found, first))
    text = " ".join(shown[best : best + _SENTENCES])
    if len(text) <= MAX_CHARS:
        return text
    return text[: MAX_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _count_seen(shown: list[str], found: list[set[str]], first: int) -> int:
    seen = set(found[first])
    room = MAX_CHARS - len(shown[first])
    further = slice(first + 1, first + _SENTENCES)
    for text, words in zip(shown[further], found[further], strict=True):
        room -= len(text) + 1
        if room < 0:
            break
        seen |= words
    return len(seen)


def _body(passage: str) -> str:
    told = (block for block in blocks(passage) if block.kind != "heading")
    body = "\n".join(passage[block.start : block.end] for block in told) or passage
    return "\n".join(line for line in body.split("\n") if not line.lstrip().startswith("```"))


def _flat(text: str) -> str:
    return " ".join((plain(text) if _MARKED.search(text) else text).split())


#: Maximum number of passages found by vectors, and the weight of the vector ranking. The word
#: ranking has weight 1.
PROPOSED, WEIGHT = 120, 0.7

#: A function that takes the matches found by words and the numbers of the documents to search (None
#: for all). It returns the passages whose vectors are nearest to the question's.
Nearest = Callable[[Sequence[Match], Collection[int] | None], list[Near]]


def no_passages(matches: Sequence[Match], within: Collection[int] | None) -> list[Near]:
    """Return no passages, for an index without vectors."""
    return []


@dataclass(frozen=True)
class Dense:
    """An index's vectors and embedding model. `remedy` says how to create missing vectors."""

    vectors: Vectors
    meaning: Meaning
    remedy: str = ""

    async def nearest(self, question: str) -> Nearest:
        """Return a function that finds the passages nearest to a question (none after an error)."""
        try:
            count = await asyncio.to_thread(self.vectors.count, MOST_PLACES + 1)
        except ModelError as error:
            self.meaning.fail(error)
            return no_passages
        if count > MOST_PLACES:
            self.meaning.tell(
                f"The library has more than {MOST_PLACES:,} passages.",
                "Only passages found by their words were ranked by meaning.",
            )
        elif not count and self.remedy:
            self.meaning.tell(
                f"The documents have no vectors for this model. {self.remedy}",
                "The documents were searched by words only.",
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
    """Return a document's passages for embedding, with their headings."""
    found = []
    for piece in pieces(document):
        body = document.markdown[piece.start : piece.end]
        text = f"{document.title}\n{piece.heading}\n{body}"
        found.append(Passage(number, piece.start, piece.end, text, body))
    return found


def with_near(
    matches: Sequence[Match], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Match]:
    """Add the nearest passage of each document found only by vectors, as a match with score 0."""
    known = {match.number for match in matches}
    nearest: dict[int, Near] = {}
    for one in near:
        if one.number not in known and _stands(one, documents):
            nearest.setdefault(one.number, one)
    return [*matches, *(Match(one.number, one.start, one.end, 0.0) for one in nearest.values())]


def blend_rankings(
    ranked: list[Ranked], near: Sequence[Near], documents: Mapping[int, Document]
) -> list[Ranked]:
    """Fuse the ranking by words and the ranking by vectors into one."""
    if not near:
        return ranked
    by_words = [each.best.number for each in ranked if each.best.score]
    by_meaning = dict.fromkeys(one.number for one in near if _stands(one, documents))
    scores = rank_scores([by_words, by_meaning], weights=[1.0, WEIGHT])
    # Documents found only by their subject are in neither ranking, so they get score 0 and come
    # last.
    return sorted(ranked, key=lambda each: -scores.get(each.best.number, 0.0))


def _stands(one: Near, documents: Mapping[int, Document]) -> bool:
    return one.number in documents and one.stands_in(documents[one.number].markdown)


#: Maximum numbers of passages to retrieve: those with any term, those with all needed terms, and
#: those about a subject that the question names.
_PROPOSED = (120, 60, 20)
#: If a question names packages, this many of their most used documents are also searched
#: separately.
_CENTRAL = 6
#: Maximum number of passages retrieved from the most used documents of the packages that a question
#: names.
_WITHIN = 40


@dataclass(frozen=True)
class Found:
    """A document that answers a question, with a snippet and score (0..1)."""

    document: Document
    snippet: str
    score: float


class Searcher:
    """Thread-safe search in a built index folder. `documents` is the number of documents, and
    `skipped` lists what could not be read.
    """

    def __init__(self, folder: Path, understood: frozenset[str] = frozenset()) -> None:
        self.store = StoreReader(folder)
        with no_panic():
            self._searcher = open_index(folder / "index").searcher()
        self._understood = understood
        self.documents, self.skipped = self.store.count(), tuple(self.store.skipped())

    @property
    def passages(self) -> int:
        """The number of passages in the index."""
        return int(self._searcher.num_docs)

    def search(self, text: str, limit: int, nearest: Nearest = no_passages) -> list[Found]:
        """Return at most `limit` documents, best first and without copies. Operators in the text
        are filters (see `Only`). Raises SearchError for an invalid operator.
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
    """Yield passages with any term, all needed terms, or a named subject, up to `most` of each."""
    yield from find_passages(searcher, any_of(question.terms), most[0], kept)
    if sum(term.needed for term in question.terms) > 1:
        yield from find_passages(searcher, all_of(question.terms), most[1], kept)
    if question.subjects:
        query = about(question.subjects, question.terms)
        yield from find_passages(searcher, query, most[2], kept)


def find_passages(
    searcher: tantivy.Searcher, query: tantivy.Query, most: int, kept: Limits
) -> Iterator[Match]:
    """Yield at most `most` matching passages that pass the filters, best first."""
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
    """Return a term's rarity, which is BM25's inverse document frequency. `others` is the number
    of additional passages assumed not to contain the term.
    """
    counts = [searcher.doc_freq("body", word) for word in term.words] if not term.signed else []
    count = min(counts, default=searcher.doc_freq("signed", term.text))
    return math.log(1 + (searcher.num_docs + others - count + 0.5) / (count + 0.5))


def _show_documents(ranked: list[Ranked], question: Asked) -> list[Found]:
    words = {word for term in question.terms for word in term.words}
    best = max((each.score for each in ranked), default=0.0) or 1.0
    found = []
    for each in ranked:
        passage = each.document.markdown[each.best.start : each.best.end]
        score = round(each.share * (0.5 + 0.5 * each.score / best), 3)
        found.append(Found(each.document, snippet(passage, words), score))
    return found
