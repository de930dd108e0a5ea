"""From passages to documents: how a question's hits are ordered."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spadework.tools.library.document import Document
from spadework.tools.library.query import Asked
from spadework.tools.library.schema import signed, spread, subject, word_analyzer

#: What a passage without any needed term keeps of its score; the rest goes with the square of the share that it has.
_FLOOR = 0.2
#: With so many needed terms, a passage that has them all comes before any that has not.
_FEW = 2
_WHOLE = 1 - 1e-9
#: A document that is about the question's subject by its title, and one of the package that the question names.
_SUBJECT = 1.5
_PACKAGE = 1.3
#: What introduces a named subject has at least this share of the best score: two things compared differ much in how rare their names are.
_INTRODUCTION = 0.75
#: What further passages of a document add to its best one; a passage with code where a way to do something is asked; outdated modules.
_FURTHER = 0.1
_CODE = 1.15
_OUTDATED = 0.75

_VERSION = re.compile(r"-v?\d[^-]*$")
_OLD = re.compile(r"/(?:v1|legacy|deprecated|distutils|_?compat)[/.]")
_OPENS = re.compile(r"/(?:readme|index)[^/]*$", re.I)
_MODULE = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)(?:/__init__\.pyi?|\.pyi?|$)")
_TOP = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)")


@dataclass(frozen=True)
class Match:
    """A passage `start:end` of document `number` that the index found, with its score."""

    number: int
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Ranked:
    """A document with its best passage; `score` orders documents, `share` is the part of the needed terms' weight that is there.

    `introduces` is true of what introduces a subject that the question names, `lifted` when that is no module, whose name may be any word.
    """

    document: Document
    best: Match
    score: float
    share: float
    introduces: bool
    lifted: bool


def rank(matches: Sequence[Match], documents: Mapping[int, Document], question: Asked, weights: Mapping[str, float]) -> list[Ranked]:
    """Documents, best first. `weights` says how rare each term is."""
    grouped: dict[int, dict[int, Match]] = {}
    for match in matches:
        grouped.setdefault(match.number, {})[match.start] = match
    judge = _Judge(question, weights)
    ranked = [judge.document(documents[number], list(found.values())) for number, found in grouped.items()]
    best = max((each.score for each in ranked), default=0.0)
    ranked = [replace(each, score=max(each.score, _INTRODUCTION * best)) if each.lifted else each for each in ranked]
    few = sum(term.needed for term in question.terms) <= _FEW
    named = {word for each in ranked if each.introduces for word in subject(each.document.title).split()}
    only_named = all(named.issuperset(term.words) for term in question.terms if term.needed)
    return sorted(
        ranked,
        key=lambda each: (
            only_named and not each.introduces,
            few and not (each.share >= _WHOLE or each.lifted),
            -each.score,
            each.document.url,
        ),
    )


class _Judge:
    """Scores documents for one question."""

    def __init__(self, question: Asked, weights: Mapping[str, float]) -> None:
        self.question = question
        self.needed = [(term, weights[term.text]) for term in question.terms if term.needed]
        self.total = math.fsum(weight for _, weight in self.needed)
        self.names = {_plain(term.text) for term in question.terms if term.needed}

    def document(self, document: Document, found: list[Match]) -> Ranked:
        title = set(word_analyzer().analyze(spread(document.title)))
        shares = {match.start: self._share(document, match, title) for match in found}
        found = sorted(found, key=lambda match: (-self._score(document, match, shares[match.start]), match.start))
        scores = [self._score(document, match, shares[match.start]) for match in found[:4]]
        score = (scores[0] + _FURTHER * math.fsum(scores[1:])) * self._prior(document)
        named = self._named(document)
        lifted = named and (bool(_OPENS.search(document.url)) or ": " not in document.title)
        introduces = lifted or (named and bool(_MODULE.match(document.url)))
        return Ranked(document, found[0], score, shares[found[0].start], introduces, lifted)

    def _score(self, document: Document, match: Match, share: float) -> float:
        practical = self.question.practical and "```" in document.markdown[match.start : match.end]
        return match.score * (_FLOOR + (1 - _FLOOR) * share * share) * (_CODE if practical else 1.0)

    def _share(self, document: Document, match: Match, title: set[str]) -> float:
        """The share of the needed terms' weight that stands in a passage or its document's title."""
        text = document.markdown[match.start : match.end]
        words = title | set(word_analyzer().analyze(spread(text)))
        signs = set(signed(f"{document.title} {text}"))
        here = math.fsum(weight for term, weight in self.needed if (term.text in signs if term.signed else words.issuperset(term.words)))
        return here / self.total if self.total else 0.0

    def _prior(self, document: Document) -> float:
        prior = _OUTDATED if _OLD.search(document.url) else 1.0
        prior *= _SUBJECT if self._named(document) else 1.0
        return prior * (_PACKAGE if self.names.intersection(_packages(document.url)) else 1.0)

    def _named(self, document: Document) -> bool:
        """Whether the question names what the document is about. A package is named by its very name: `request` does not mean requests."""
        if subject(document.title) not in self.question.subjects:
            return False
        return not _packages(document.url) or _plain(document.title.partition(":")[0]) in self.names


def _packages(url: str) -> set[str]:
    """The package whose document a URL is, by the names it is installed and imported under; none in a collection without a version."""
    collection = url.partition("://")[2].partition("/")[0]
    name = _VERSION.sub("", collection)
    top = _TOP.match(url)
    return {_plain(name), _plain(top[1]) if top else ""} - {""} if name != collection else set()


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
