"""A question as a query on the index. Whatever the text, there is no syntax in it."""

from __future__ import annotations

from dataclasses import dataclass

import tantivy

from spadework.tools.library.schema import BOOSTS, name_analyzer, schema, signed, spaced, word_analyzer
from spadework.tools.rank import query_terms

# fmt: off
#: Words that say what kind of answer is wanted, not what it is about: they help to rank, but need not be there.
_INTENT = frozenset((
    "answer", "basics", "best", "better", "choose", "common", "compare", "comparison", "define", "definition", "describe", "detail", "details",
    "difference", "differences", "different", "example", "examples", "explain", "explanation", "features", "find", "get", "give", "good", "guide",
    "important", "introduction", "key", "know", "latest", "list", "main", "make", "mean", "meaning", "means", "need", "overview", "pitfalls",
    "possible", "practice", "practices", "prerequisites", "proper", "properly", "purpose", "recommended", "requirements", "right", "show",
    "simple", "step", "steps", "summary", "tell", "tutorial", "understand", "usage", "use", "used", "uses", "using", "versus", "vs", "want",
    "way", "ways", "work", "works",
))
# fmt: on
#: Longer questions are cut: their first words say what they are about.
MAX_TERMS = 32
_INTENT_WEIGHT = 0.3
_NAME_BOOST = 2.0
_TIE = 0.2


@dataclass(frozen=True)
class Term:
    """A term of a question: as written, as stemmed words, and whether a result should have it."""

    text: str
    words: tuple[str, ...]
    signed: bool
    needed: bool


def terms(text: str) -> list[Term]:
    """The terms of a question; when all are stop words, all its words."""
    found = [term for each in query_terms(text)[:MAX_TERMS] if (term := _term(each)).words or term.signed]
    if not found:
        return [Term(word, (word,), False, True) for word in dict.fromkeys(word_analyzer().analyze(spaced(text[:1000])))][:MAX_TERMS]
    return found if any(term.needed for term in found) else [Term(term.text, term.words, term.signed, True) for term in found]


def _term(text: str) -> Term:
    return Term(text, tuple(word_analyzer().analyze(spaced(text))), bool(signed(text)), text not in _INTENT)


def query(found: list[Term]) -> tantivy.Query:
    """Passages that have any of the terms; the more of them, the better."""
    parts = [tantivy.Query.boost_query(_either(term), 1.0 if term.needed else _INTENT_WEIGHT) for term in found]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])


def conjunction(found: list[Term]) -> tantivy.Query:
    """Passages that have every needed term."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, _either(term)) for term in found if term.needed])


def _either(term: Term) -> tantivy.Query:
    """The term in any field: the best one counts, the others a little."""
    if term.signed:
        return tantivy.Query.boost_query(tantivy.Query.term_query(schema(), "signed", term.text), _NAME_BOOST)
    fields = [tantivy.Query.boost_query(_in(field, term.words), boost) for field, boost in BOOSTS.items()]
    names = [tantivy.Query.term_query(schema(), "names", name) for name in name_analyzer().analyze(term.text)[:1]]
    return tantivy.Query.disjunction_max_query([*fields, *(tantivy.Query.boost_query(name, _NAME_BOOST) for name in names)], _TIE)


def _in(field: str, words: tuple[str, ...]) -> tantivy.Query:
    if len(words) == 1:
        return tantivy.Query.term_query(schema(), field, words[0])
    return tantivy.Query.phrase_query(schema(), field, list(words))
