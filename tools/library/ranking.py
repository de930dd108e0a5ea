"""From passages to documents: how a question's hits are ordered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spadework.tools.library.document import Document
from spadework.tools.library.query import Term
from spadework.tools.library.schema import signed, spread, word_analyzer

#: What a passage without any needed term keeps of its score; the rest goes with the square of the share that it has.
_FLOOR = 0.2
#: A document that is about the question's subject by its title, and the one that introduces it.
_SUBJECT = 1.5
_INTRODUCTION = 1.4
#: What further passages of a document add to its best one.
_FURTHER = 0.1


@dataclass(frozen=True)
class Match:
    """A passage `start:end` of document `number` that the index found, with its score."""

    number: int
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Ranked:
    """A document with its best passage; `score` orders documents, `complete` says that all needed terms are there."""

    document: Document
    best: Match
    score: float
    complete: bool


def rank(matches: Sequence[Match], documents: Mapping[int, Document], terms: Sequence[Term], weights: Mapping[str, float]) -> list[Ranked]:
    """Documents, best first. `weights` says how rare each term is."""
    grouped: dict[int, list[Match]] = {}
    for match in matches:
        grouped.setdefault(match.number, []).append(match)
    ranked = [_ranked(documents[number], found, terms, weights) for number, found in grouped.items()]
    few = sum(term.needed for term in terms) <= 3
    return sorted(ranked, key=lambda each: (not (few and each.complete), -each.score, each.document.url))


def _ranked(document: Document, found: list[Match], terms: Sequence[Term], weights: Mapping[str, float]) -> Ranked:
    title = set(word_analyzer().analyze(spread(document.title)))
    shares = [_share(document, match, title, terms, weights) for match in found]
    scored = sorted(
        ((match.score * (_FLOOR + (1 - _FLOOR) * share * share), match, share) for match, share in zip(found, shares, strict=True)),
        key=lambda each: (-each[0], each[1].start),
    )
    best, match, share = scored[0]
    score = best + _FURTHER * sum(each[0] for each in scored[1:4])
    return Ranked(document, match, score * _prior(document, terms), share > 1 - 1e-9)


def _share(document: Document, match: Match, title: set[str], terms: Sequence[Term], weights: Mapping[str, float]) -> float:
    """The share of the needed terms' weight that stands in a passage or its document's title."""
    text = document.markdown[match.start : match.end]
    words = title | set(word_analyzer().analyze(spread(text)))
    signs = set(signed(f"{document.title} {text}"))
    needed = [term for term in terms if term.needed]
    total = math.fsum(weights[term.text] for term in needed)
    here = math.fsum(weights[term.text] for term in needed if (term.text in signs if term.signed else words.issuperset(term.words)))
    return here / total if total else 0.0


def _prior(document: Document, terms: Sequence[Term]) -> float:
    """How much a document is about what was asked by its very title."""
    subject = word_analyzer().analyze(spread(document.title.partition(":")[0]))
    asked = {word for term in terms for word in term.words}
    if not subject or not asked.issuperset(subject):
        return 1.0
    name = document.url.rpartition("/")[2].lower()
    return _SUBJECT * (_INTRODUCTION if name.startswith(("readme", "index.")) else 1.0)
