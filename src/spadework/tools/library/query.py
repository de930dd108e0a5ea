"""A question as a query on the index. Whatever the text, there is no syntax in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import tantivy

from spadework.errors import SearchError
from spadework.tools.library.document import plain_name
from spadework.tools.library.folders import KINDS
from spadework.tools.library.schema import (
    BOOSTS,
    name_analyzer,
    schema,
    signed_terms,
    space_signs,
    word_analyzer,
)
from spadework.tools.ranking.query_operators import Only
from spadework.tools.ranking.relevance import query_terms

#: Words that say what kind of answer is wanted, not what it is about: they help to rank, but need
#: not be there.
_INTENT_WORDS = """
advantages answer basic basics benefits best better case cases choose code common compare
comparison concept concepts define definition describe detail details difference
differences different disadvantages example examples explain explanation features find get
getting give good guide idea important introduction key know latest learn list main make
mean meaning means need one ones overview pitfalls possible practice practices
prerequisites proper properly purpose quickstart reason reasons recommended requirements
right sample samples scenarios show simple something start started step steps summary tell
thing things tutorial understand usage use used uses using versus vs want way ways work
works
"""
_INTENT = frozenset(_INTENT_WORDS.split())
_HOW = re.compile(r"\bhow (?:do|to|can|should)\b|\b(?:examples?|usage|tutorial|code)\b", re.I)
_COMPARES = re.compile(
    r"\b(?:compar\w*|versus|vs|differ\w*|between|better|or|alternatives?)\b", re.I
)
#: Longer questions are cut: their first words say what they are about.
MAX_CHARS = 2_000
MAX_TERMS = 32
#: Of more terms the rarest are searched: each costs a look at four fields of every passage that has
#: it.
MOST_TERMS = 14
#: Titles of up to this many words are looked up as a whole.
_MAX_SUBJECT = 5
_INTENT_WEIGHT = 0.3
_NAME_BOOST = 2.0


@dataclass(frozen=True)
class Term:
    """A term: as written (lower-case), as stemmed words, and whether a result should have it."""

    text: str
    words: tuple[str, ...]
    signed: bool
    needed: bool


@dataclass(frozen=True)
class Asked:
    """A question as its terms, and what it may name: `subjects` as stems, `names` of packages as
    they are written.

    `practical` is true when it asks for a way to do something, `comparing` when it compares things.
    """

    terms: tuple[Term, ...]
    subjects: frozenset[str]
    names: frozenset[str]
    practical: bool
    comparing: bool


def parse_question(text: str, understood: frozenset[str] = frozenset()) -> Asked:
    """What a question asks for. Words `understood` count only where no others are left."""
    text = text.encode(errors="replace").decode()[:MAX_CHARS]
    words = word_analyzer().analyze(space_signs(text))
    optional = _INTENT | understood
    asked = [_term(each, each not in optional) for each in query_terms(text)[:MAX_TERMS]]
    found = [term for term in asked if term.words or term.signed]
    if not any(term.needed for term in found):
        found = [replace(term, needed=True) for term in found] or [
            Term(word, (word,), False, True) for word in dict.fromkeys(words[:MAX_TERMS])
        ]
    needed = {word for term in found if term.needed for word in term.words}
    runs = (
        words[n : n + size]
        for size in range(1, _MAX_SUBJECT + 1)
        for n in range(min(len(words), MAX_TERMS) - size + 1)
    )
    return Asked(
        terms=tuple(found),
        subjects=frozenset(" ".join(run) for run in runs if needed.intersection(run)),
        names=frozenset(plain_name(term.text) for term in found if term.needed),
        practical=bool(_HOW.search(text)),
        comparing=bool(_COMPARES.search(text)),
    )


def telling(question: Asked, weights: Mapping[str, float]) -> Asked:
    """The question with its rarest terms only where it is long: the others say little."""
    if len(question.terms) <= MOST_TERMS:
        return question
    rarest = sorted(question.terms, key=lambda term: (not term.needed, -weights[term.text]))
    kept = rarest[:MOST_TERMS]
    return replace(question, terms=tuple(term for term in question.terms if term in kept))


def _term(text: str, needed: bool) -> Term:
    words = tuple(word_analyzer().analyze(space_signs(text)))
    return Term(text, words, bool(signed_terms(text)), needed)


def any_of(terms: tuple[Term, ...]) -> tantivy.Query:
    """Passages that have any of the terms; the more of them, the better."""
    weighed = ((_either(term), 1.0 if term.needed else _INTENT_WEIGHT) for term in terms)
    parts = [tantivy.Query.boost_query(*each) for each in weighed]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])


def all_of(terms: tuple[Term, ...]) -> tantivy.Query:
    """Passages that have every needed term, scored as by `any_of`."""
    musts = [(tantivy.Occur.Must, _either(term)) for term in terms if term.needed]
    others = (_either(term) for term in terms if not term.needed)
    weighed = (tantivy.Query.boost_query(other, _INTENT_WEIGHT) for other in others)
    return tantivy.Query.boolean_query([*musts, *((tantivy.Occur.Should, w) for w in weighed)])


def about(subjects: frozenset[str], terms: tuple[Term, ...]) -> tantivy.Query:
    """First passages of documents about a subject of the question, scored as by `any_of`."""
    named = _kept_to("subject", sorted(subjects))
    return tantivy.Query.boolean_query([named, (tantivy.Occur.Should, any_of(terms))])


def within(documents: list[int], terms: tuple[Term, ...]) -> tantivy.Query:
    """Passages of some documents that have any of the terms."""
    chosen = _kept_to("document", documents)
    return tantivy.Query.boolean_query([chosen, (tantivy.Occur.Must, any_of(terms))])


def _kept_to(field: str, values: Sequence[str | int]) -> tuple[tantivy.Occur, tantivy.Query]:
    """A condition that adds nothing to a score."""
    named = tantivy.Query.term_set_query(schema(), field, values)
    return tantivy.Occur.Must, tantivy.Query.const_score_query(named, 0.0)


def _either(term: Term) -> tantivy.Query:
    """The term in any field: the best one counts."""
    if term.signed:
        signed = tantivy.Query.term_query(schema(), "signed", term.text)
        return tantivy.Query.boost_query(signed, _NAME_BOOST)
    parts = [(_in(field, term.words), boost) for field, boost in BOOSTS.items()]
    for name in name_analyzer().analyze(term.text)[:1]:
        parts.append((tantivy.Query.term_query(schema(), "names", name), _NAME_BOOST))
    boosted = [tantivy.Query.boost_query(*part) for part in parts]
    return tantivy.Query.disjunction_max_query(boosted)


def _in(field: str, words: tuple[str, ...]) -> tantivy.Query:
    if len(words) == 1:
        return tantivy.Query.term_query(schema(), field, words[0])
    return tantivy.Query.phrase_query(schema(), field, list(words))


Limits = list[tuple[tantivy.Occur, tantivy.Query]]


def kept_to(only: Only) -> Limits:
    """Conditions beside a query. Raises SearchError for a kind of file that is not read."""
    limits = [_any("places", named) for named in (only.sites, only.paths) if named]
    limits += [_any("kind", _kinds(only.kinds))] if only.kinds else []
    limits += [_days(only)] if only.after or only.before else []
    kept_from = [("places", only.not_sites), ("places", only.not_paths)]
    kept_from.append(("kind", tuple(_kinds(only.not_kinds))))
    return [
        *((tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0)) for query in limits),
        *((tantivy.Occur.MustNot, _any(field, named)) for field, named in kept_from if named),
    ]


def _any(field: str, values: Sequence[str]) -> tantivy.Query:
    return tantivy.Query.term_set_query(schema(), field, list(values))


def _kinds(named: Sequence[str]) -> list[str]:
    for name in named:
        if f".{name}" not in KINDS:
            known = ", ".join(sorted(set(KINDS.values())))
            raise SearchError(
                f"kind:{name[:40]} is no kind of file that a library reads.",
                hint=f"Write one of {known}.",
            )
    return [KINDS[f".{name}"] for name in named]


def _days(only: Only) -> tantivy.Query:
    first = only.after.toordinal() if only.after else None
    last = only.before.toordinal() if only.before else None
    kind, upper = tantivy.FieldType.Integer, last is None
    return tantivy.Query.range_query(
        schema(), "day", kind, first, last, include_upper=upper, use_inverted_index=True
    )
