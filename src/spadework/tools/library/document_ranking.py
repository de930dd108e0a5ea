"""Ranking of the documents found for a question: scores, near-copies and snippets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spadework.tools.library.document import Document, packages_of, plain_name
from spadework.tools.library.full_text import Asked, StemFinder, signed_terms, spread, subject
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.sentences import sentences

#: Share of its score that a passage without any needed term keeps; the rest scales with this power
#: of the share it has (benchmarks/installed.py).
_FLOOR, _POWER = 0.1, 3
#: With this many needed terms or fewer, passages that have them all come first.
_FEW = 2
_WHOLE = 1 - 1e-9
#: Factors for a document whose title is the question's subject, and for one of the package named.
_SUBJECT = 1.4
_PACKAGE = 1.3
#: Minimum share of the question that a document on one side of a comparison answers.
_SIDE = 0.75
#: Weight of a document's further passages.
_FURTHER = 0.05
#: Factors for documents with code when a how-to is asked, of outdated modules, and of the standard
#: library, which everyone has (benchmarks/installed.py).
_CODE = 1.2
_OUTDATED = 0.75
_STANDARD = 1.2
#: Gain for each doubling of the documents that use what it documents, and its maximum.
_USED = 0.1
_MOST_USED = 0.5

#: Pages of the standard library.
_STANDARD_LIBRARY = re.compile(r"library://python-\d")
_OLD = re.compile(r"/(?:v1|legacy|deprecated|distutils|_?compat)[/.]")
_OPENS = re.compile(r"/(?:readme|index)[^/]*$", re.I)
_MODULE = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)(?:/__init__\.pyi?|\.pyi?|$)")


@dataclass(frozen=True)
class Match:
    """A passage `start:end` of document `number` found by the index, with its score."""

    number: int
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Ranked:
    """A document with its best passage, ordered by `score`.

    `share` is the share of the needed terms' weight that it contains, `own` the same before sides
    of a comparison are balanced. `introduces` is true for a package's README, a top-level module or
    a page with exactly that title, if the question names it.
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
    """Return documents, best first. `weights` is the rarity of each term."""
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
    """Balance the sides of a comparison: their names differ in rarity, and each answers half."""
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
    """Return the package a document belongs to, or the subject it introduces, if named; else ""."""
    named = sorted(packages_of(each.document.url) & question.names)
    return named[0] if named else subject(each.document.title) if each.introduces else ""


def _only_named(ranked: list[Ranked], question: Asked) -> bool:
    """Return whether the question names only subjects with an introduction: one, or those
    compared.
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
        """Return whether the question names what the document is about.

        A package must be named exactly: `request` does not mean requests. A title of several words
        cannot occur by chance.
        """
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
#: Characters of Markdown markup; a text without them is plain already.
_MARKED = re.compile(r"[*_`\[\]<>\\&~!|#]")


def snippet(passage: str, words: set[str]) -> str:
    """Return plain text of at most 300 characters, from the sentence that starts the part with most
    of the stems `words`; without sentences (code, tables), from the passage's start.
    """
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
    """Count the words in the sentences from `first` on that fit."""
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
    """Return a passage without headings and fences, for one without sentences."""
    told = (block for block in blocks(passage) if block.kind != "heading")
    body = "\n".join(passage[block.start : block.end] for block in told) or passage
    return "\n".join(line for line in body.split("\n") if not line.lstrip().startswith("```"))


def _flat(text: str) -> str:
    return " ".join((plain(text) if _MARKED.search(text) else text).split())
