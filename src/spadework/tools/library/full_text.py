"""Define the full-text index: its fields, terms and queries."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import tantivy

from spadework.errors import SearchError
from spadework.tools.library.document import plain_name
from spadework.tools.library.installed import packages_with
from spadework.tools.library.source_reader import KINDS
from spadework.tools.ranking.query_operators import Only
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text.terms import split_camel_case

#: Patterns for terms such as .NET, C++ and C#. For speed, they begin with the symbol.
_DOT_FIRST = re.compile(r"\.(?<![\w.]\.)[A-Za-z]{2,}\b")
_SIGNS_LAST = (re.compile(r"\+\+(?!\w)"), re.compile(r"#(?!\w)"))
#: Characters of scripts that are written without spaces. Each is indexed as a word.
_UNSPACED = re.compile(
    r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff])"
)
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile("[\u3400-\u9fff]+")
#: Words that share only their first letter with some of their forms, such as "die" with "dying".
_IRREGULAR = frozenset(("die", "lie", "tie"))
_NAME = r"[\p{L}\p{N}_]+(?:[.\-][\p{L}\p{N}_]+)*"

BOOSTS = {"title": 1.5, "heading": 1.2, "body": 1.0}


@lru_cache(maxsize=1)
def schema() -> tantivy.Schema:
    """Return the schema of an indexed passage, whose text is stored elsewhere.
    - `names`: the title, URL and headings as written.
    - `signed`: terms whose symbols matter, such as C++.
    - `subject`: the title as one term, only in the first passage of a document.
    - `places`: the sites and paths that contain the document, for filters.
    - `kind`, `day` (from `date.toordinal`): also for filters.
    """
    builder = tantivy.SchemaBuilder()
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name="words")
    builder.add_text_field("names", tokenizer_name="names", index_option="freq")
    builder.add_text_field("signed", tokenizer_name="signed", index_option="freq")
    builder.add_text_field("subject", tokenizer_name="raw", index_option="basic")
    for name in ("places", "kind"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("document", indexed=True, fast=True)
    for name in ("start", "end"):
        builder.add_integer_field(name, fast=True)
    builder.add_integer_field("day", indexed=True)
    return builder.build()


@lru_cache(maxsize=1)
def word_analyzer() -> tantivy.TextAnalyzer:
    """Return an analyzer that stems English words and ignores case and accents."""
    only = tantivy.Filter
    filters = only.lowercase(), only.ascii_fold(), only.remove_long(60), only.stemmer("english")
    return _analyzer(tantivy.Tokenizer.simple(), *filters)


@lru_cache(maxsize=1)
def name_analyzer() -> tantivy.TextAnalyzer:
    """Return an analyzer that keeps names whole, in lower case."""
    return _analyzer(tantivy.Tokenizer.regex(_NAME), tantivy.Filter.lowercase())


def _analyzer(tokenizer: tantivy.Tokenizer, *filters: tantivy.Filter) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tokenizer)
    for each in filters:
        builder = builder.filter(each)
    return builder.build()


@contextmanager
def no_panic() -> Iterator[None]:
    """Convert a tantivy panic, which is not an Exception, to ValueError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # the class cannot be imported
            raise ValueError("the index is damaged") from error
        raise


def open_index(folder: Path) -> tantivy.Index:
    """Open or create the index in `folder`. Raises ValueError if it is damaged."""
    with no_panic():
        index = tantivy.Index(schema(), path=str(folder))
    index.register_tokenizer("words", word_analyzer())
    index.register_tokenizer("names", name_analyzer())
    signed = _analyzer(tantivy.Tokenizer.whitespace(), tantivy.Filter.lowercase())
    index.register_tokenizer("signed", signed)
    return index


def open_writer(index: tantivy.Index, heap_bytes: int) -> tantivy.IndexWriter:
    """Open an index's only writer. The first deletion is a dummy, as tantivy 0.27 may lose it."""
    writer = index.writer(heap_bytes, 1)
    writer.delete_documents_by_term("document", 0)  # matches nothing, because numbers begin at 1
    return writer


def space_signs(text: str) -> str:
    """Put spaces around each character of a script without spaces."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text)


def spread(text: str) -> str:
    """Append a copy with camel-case names split, so that "async client" finds AsyncClient."""
    apart = split_camel_case(text)
    return space_signs(text if apart == text else f"{text} {apart}")


def stems(text: str) -> set[str]:
    """Return the distinct word stems of a text. This is faster than `word_analyzer`."""
    if not text.isascii():
        plain, odd = _split_ascii(text)
        return set(word_analyzer().analyze(space_signs(odd))) | stems(plain)
    return {stem for word in set(_WORD.findall(text.lower())) if (stem := _stem(word))}


class StemFinder:
    """Quickly finds a few given stems in many texts."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self._words = [(stem, _stem_pattern(stem)) for stem in self._wanted if stem.isascii()]

    def find(self, text: str) -> set[str]:
        """Return the wanted stems in a text."""
        if text.isascii():
            lower = text.lower()
            return {
                stem
                for stem, words in self._words
                if any(_stem(word) == stem for word in set(words.findall(lower)))
            }
        plain, odd = _split_ascii(text)
        return self.find(plain).union(
            self._wanted.intersection(word_analyzer().analyze(space_signs(odd)))
        )


def _split_ascii(text: str) -> tuple[str, str]:
    words = text.split()
    return " ".join(filter(str.isascii, words)), " ".join(itertools.filterfalse(str.isascii, words))


def _stem_pattern(stem: str) -> re.Pattern[str]:
    letters = re.escape(stem[:1] if stem in _IRREGULAR else stem[: max(2, len(stem) - 1)])
    return re.compile(rf"{letters}(?<![a-z0-9]{letters})[a-z0-9]*")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return "".join(word_analyzer().analyze(word))


@lru_cache(maxsize=10_000)
def subject(title: str) -> str:
    """Return the word stems of a title, up to its first colon, as one string."""
    return " ".join(word_analyzer().analyze(space_signs(title.partition(": ")[0])))


def all_terms(text: str) -> list[str]:
    """Return a text's stems in order, followed by terms such as C++."""
    return [*word_analyzer().analyze(spread(text)), *signed_terms(text)]


def signed_terms(text: str) -> list[str]:
    """Return terms whose symbols matter, such as C++, in lower case."""
    found = _DOT_FIRST.findall(text)
    for pattern in _SIGNS_LAST:
        for sign in pattern.finditer(text):
            start = sign.start()
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            if start < sign.start():
                found.append(text[start : sign.end()])
    return [term.lower() for term in found]


#: Words that describe the kind of answer wanted. Passages need not contain them.
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
#: Maximum number of characters read from a question. The rest of a long question is ignored,
#: because the subject usually comes first.
MAX_CHARS = 2_000
MAX_TERMS = 32
#: Maximum number of query terms, because each costs a lookup in four fields. Optional and common
#: terms are dropped first.
MOST_TERMS = 14
_MAX_SUBJECT = 5
_INTENT_WEIGHT = 0.3
_NAME_BOOST = 2.0


@dataclass(frozen=True)
class Term:
    """A query term with its stems. Passages should contain every term that is `needed`."""

    text: str
    words: tuple[str, ...]
    signed: bool
    needed: bool


@dataclass(frozen=True)
class Asked:
    """A parsed question.
    - `subjects`: the subjects that the question might name, as word stems.
    - `names`: normalized names of the packages that the question might mention.
    - `practical`: true if the question asks how to do something.
    - `comparing`: true if the question asks for a comparison.
    """

    terms: tuple[Term, ...]
    subjects: frozenset[str]
    names: frozenset[str]
    practical: bool
    comparing: bool


def parse_question(text: str, understood: frozenset[str] = frozenset()) -> Asked:
    """Parse a question, treating words in `understood` as optional."""
    text = text.encode(errors="replace").decode()[:MAX_CHARS]
    words = word_analyzer().analyze(space_signs(text))
    optional = _INTENT | understood
    pieces = [piece for term in query_terms(text) for piece in _pieces(term)][:MAX_TERMS]
    asked = [_term(each, each not in optional) for each in pieces]
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


#: All installed documentation is about Python, so a passage need not contain "python" to match.
UNDERSTOOD = frozenset(("python",))
Words = frozenset[tuple[str, ...]]


def needed_words(question: str) -> Words:
    """Return the words, as stems, that a passage must contain to answer a question."""
    terms = parse_question(question, UNDERSTOOD).terms
    return frozenset(term.words or (term.text,) for term in terms if term.needed)


def related_packages(words: Words) -> frozenset[str]:
    """Return the packages to read in full for a question that names no package."""
    finder = StemFinder(stem for word in words for stem in word)
    return packages_with(words, finder.find)


def rarest_terms(question: Asked, weights: Mapping[str, float]) -> Asked:
    """Keep at most MOST_TERMS terms of a question. Prefer needed terms, then rare ones."""
    if len(question.terms) <= MOST_TERMS:
        return question
    rarest = sorted(question.terms, key=lambda term: (not term.needed, -weights[term.text]))
    kept = rarest[:MOST_TERMS]
    return replace(question, terms=tuple(term for term in question.terms if term in kept))


def _pieces(term: str) -> list[str]:
    """Split a Chinese term into overlapping pairs of characters, because it has no spaces."""
    pairs = [term[n : n + 2] for n in range(len(term) - 1)]
    return pairs if pairs and _HAN.fullmatch(term) else [term]


def _term(text: str, needed: bool) -> Term:
    words = tuple(word_analyzer().analyze(space_signs(text)))
    return Term(text, words, bool(signed_terms(text)), needed)


def any_of(terms: tuple[Term, ...]) -> tantivy.Query:
    """Return a query for passages with any of the terms. Passages with more terms score higher."""
    weighed = ((_either(term), 1.0 if term.needed else _INTENT_WEIGHT) for term in terms)
    parts = [tantivy.Query.boost_query(*each) for each in weighed]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])


def all_of(terms: tuple[Term, ...]) -> tantivy.Query:
    """Return a query for passages that contain all needed terms, scored as in `any_of`."""
    musts = [(tantivy.Occur.Must, _either(term)) for term in terms if term.needed]
    others = (_either(term) for term in terms if not term.needed)
    weighed = (tantivy.Query.boost_query(other, _INTENT_WEIGHT) for other in others)
    return tantivy.Query.boolean_query([*musts, *((tantivy.Occur.Should, w) for w in weighed)])


def about(subjects: frozenset[str], terms: tuple[Term, ...]) -> tantivy.Query:
    """Return a query for the first passages of documents whose titles are among the subjects. The
    passages are scored as in `any_of`.
    """
    named = _kept_to("subject", sorted(subjects))
    return tantivy.Query.boolean_query([named, (tantivy.Occur.Should, any_of(terms))])


def query_documents(documents: list[int], terms: tuple[Term, ...]) -> tantivy.Query:
    """Return a query for passages that are in the given documents and contain any of the terms."""
    chosen = _kept_to("document", documents)
    return tantivy.Query.boolean_query([chosen, (tantivy.Occur.Must, any_of(terms))])


def _kept_to(field: str, values: Sequence[str | int]) -> tuple[tantivy.Occur, tantivy.Query]:
    named = tantivy.Query.term_set_query(schema(), field, values)
    return tantivy.Occur.Must, tantivy.Query.const_score_query(named, 0.0)


def _either(term: Term) -> tantivy.Query:
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
    """Convert query filters to tantivy queries. Raises SearchError for an unknown file kind."""
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
                f"kind:{name[:40]} is not a file type that a library supports.",
                hint=f"Use one of {known}.",
            )
    return [KINDS[f".{name}"] for name in named]


def _days(only: Only) -> tantivy.Query:
    first = only.after.toordinal() if only.after else None
    last = only.before.toordinal() if only.before else None
    kind, upper = tantivy.FieldType.Integer, last is None
    return tantivy.Query.range_query(
        schema(), "day", kind, first, last, include_upper=upper, use_inverted_index=True
    )
