"""What tells how well a candidate answers a question: one vector of numbers a candidate. The words
that count are weighed by how rare they are in what was read; no number here is chosen by eye, what
each counts stands in weights.toml.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from spadework.agents.extractive.candidates import Candidate
from spadework.agents.passage_view import PassageView
from spadework.tools.text.detect import language_of
from spadework.tools.text.facts import numbers, spelled_numbers
from spadework.tools.text.language import language
from spadework.tools.text.terms import terms

Stems = frozenset[str]
Vector = dict[str, float]

#: What words of a question count that stand outside of the aspect that is looked at.
BESIDE = 0.3
#: Between the clauses of a question.
_CLAUSE = re.compile(r"[,;:?!、，；：？！。]\s*|\s[-–—(]\s?")
#: What a line of code takes from elsewhere, in most languages.
_IMPORTED = re.compile(
    r"^[ \t>.]*(?:from|import|use|using|require|#include|library)\b[ (]*[\"'<]?([\w./:@-]+)",
    re.MULTILINE,
)
#: The name of what a page is of stands before its description.
_HEAD = re.compile(r"[:|–—]\s|\s-\s")
_CUES = ("count", "date", "define", "steps", "items")


@lru_cache(maxsize=60_000)
def words(text: str, code: str) -> tuple[str, ...]:
    """The stems of a text in order."""
    return tuple(terms(text, code))


def stems(text: str, code: str) -> Stems:
    """The stems of a text, each once."""
    return frozenset(words(text, code))


@dataclass(frozen=True)
class Parts:
    """A candidate's stems: its own, those of title and headings above, and of what stands around
    it.
    """

    own: Stems
    title: Stems
    heading: Stems
    lead: Stems
    beside: Stems
    around: Stems

    @classmethod
    def of(cls, one: Candidate) -> Parts:
        """The parts of a candidate, each by the language of its page."""
        code = one.language
        return cls(
            stems(one.text, code),
            stems(one.shown.page.title, code),
            stems(one.shown.heading, code),
            stems(one.lead, code),
            stems(f"{one.before} {one.after}", code),
            stems(one.around, code),
        )

    @property
    def near(self) -> Stems:
        """Its own words and those above it."""
        return self.own | self.title | self.heading

    @cached_property
    def all(self) -> Stems:
        """All that a reader of the page has before him with it."""
        return self.near | self.lead | self.beside | self.around


class Asked:
    """The words of a question with what each weighs among the candidates, and its cues; those
    outside of the `aspect` that is looked at weigh less.
    """

    def __init__(self, text: str, code: str, own: Sequence[Stems], aspect: str = "") -> None:
        self.text = text
        self.order = tuple(dict.fromkeys(words(text, code)))
        self.stems = frozenset(self.order)
        holding = Counter(stem for each in own for stem in each & self.stems)
        count = len(own)
        self.idf = {s: math.log(1 + count / (holding[s] + 0.5)) for s in self.order}
        self.is_aspect = aspect not in ("", text)
        focus = stems(aspect or text, code)
        self.idf = {s: v if s in focus else BESIDE * v for s, v in self.idf.items()}
        spoken = language(code)
        self.cues = spoken.asked(aspect or text)
        if "steps" in self.cues:  # "How do I use X?" asks about X, whatever else is used
            uses = stems(" ".join(spoken.uses), code)
            self.idf = {s: BESIDE * v if s in uses else v for s, v in self.idf.items()}
        self.total = math.fsum(self.idf.values()) or 1.0
        self.pairs = set(pairwise(self.order))
        clauses = [stems(part, code) for part in _CLAUSE.split(text)]
        self.clauses = [own for own in clauses if len(own) > 1] or [self.stems]
        self.numbers = numbers(text)

    def share(self, own: Iterable[str]) -> float:
        """The share of the question's weight that some stems hold, 0..1."""
        # Sets have no order that lasts, and plain sums of floats depend on one.
        return math.fsum(self.idf[s] for s in self.stems.intersection(own)) / self.total

    def best_clause(self, own: Stems) -> float:
        """The largest share of the weight of one clause of the question that some stems hold."""
        return max(
            math.fsum(self.idf[s] for s in clause & own)
            / (math.fsum(self.idf[s] for s in clause) or 1.0)
            for clause in self.clauses
        )


class Places:
    """The places of all passages shown."""

    def __init__(
        self, asked: Asked, shown: Sequence[PassageView], ranks: Mapping[str, int]
    ) -> None:
        self.asked, self.ranks = asked, ranks
        self.own = {s: _asked_of(s, asked) for s in set(shown)}
        self.most = max(map(self._score, shown), default=1.0) or 1.0
        self.page: dict[str, set[str]] = {}
        for s, own in self.own.items():
            self.page.setdefault(s.page.url, set()).update(own)

    def _score(self, shown: PassageView) -> float:
        """How much a passage is about what is asked: its rank's score is about the whole question,
        so for an aspect what it holds of that counts.
        """
        return self.asked.share(self.own[shown]) if self.asked.is_aspect else shown.score

    def of(self, shown: PassageView) -> Vector:
        """The features of a passage: its rank and score, and what it and its page hold."""
        url = shown.page.url
        return {
            "rank": 1 / (1 + self.ranks[url]),
            "passage_score": self._score(shown) / self.most,
            "passage": self.asked.share(self.own[shown]),
            "page": self.asked.share(self.page[url]),
            "head": _fit(stems(_HEAD.split(shown.page.title)[0], "en"), self.asked),
        }


def _asked_of(shown: PassageView, asked: Asked) -> Stems:
    """The words of the question that stand in a passage, or above it."""
    text = f"{shown.page.title}\n{shown.heading}\n{shown.text}"
    return asked.stems.intersection(terms(text, language_of(shown.text) or "en"))


def vector(one: Candidate, parts: Parts, asked: Asked, place: Vector) -> Vector:
    """The features of a candidate, all about 0..1, with those of its `place`."""
    last = stems(one.shown.heading.rsplit(" > ", 1)[-1], one.language)
    found = {
        "near": asked.share(parts.near),
        "clause": asked.best_clause(parts.own),
        "clause_near": asked.best_clause(parts.near),
        "all": asked.share(parts.all),
        "title_fits": _fit(parts.title, asked),
        "heading_fits": _fit(last, asked),
        "lead": asked.share(parts.lead),
        "beside": asked.share(parts.beside),
        "pairs": _shared_pairs(one, asked),
        "length": math.log(1 + len(one.text)) / 6,
        "opens": float(one.opens),
        "first": _begins(one, asked),
        "item": float(one.kind == "item"),
        "list": float(one.kind == "list"),
    }
    found |= place
    return found | _expected_features(one, asked, found)


def _shared_pairs(one: Candidate, asked: Asked) -> float:
    """The share of the question's neighbouring words that are neighbours in a candidate, too."""
    own = pairwise(words(one.text, one.language))
    return len(asked.pairs.intersection(own)) / max(1, len(asked.pairs))


def _begins(one: Candidate, asked: Asked) -> float:
    """Whether a sentence begins with a word of the question, as one that says what it is does."""
    own = words(one.text, one.language) if one.kind == "text" else ()
    return float(bool(own) and own[0] in asked.stems)


def _fit(own: Stems, asked: Asked) -> float:
    return len(own & asked.stems) / len(own) if own else 0.0


def _expected_features(one: Candidate, asked: Asked, found: Mapping[str, float]) -> Vector:
    """Whether a candidate looks like what the question's cues ask for."""
    counted = float(bool(numbers(one.text) - asked.numbers) or bool(spelled_numbers(one.text)))
    dated = float(any(len(n) == 4 and n[0] in "12" for n in numbers(one.text)))
    cue = {name: float(name in asked.cues) for name in _CUES}
    imported = " ".join(_IMPORTED.findall(one.text)) if one.kind == "code" else ""
    own = stems(imported, "en")
    used = {word for word in asked.stems if own.intersection(word.split("-"))}
    return {
        "count_number": cue["count"] * counted,
        "date_date": cue["date"] * dated,
        "define_opens": cue["define"] * found["opens"],
        "define_first": cue["define"] * found["first"],
        "define_lead": cue["define"] * found["lead"],
        "steps_code": cue["steps"] * (one.kind == "code"),
        "steps_uses": cue["steps"] * asked.share(used),
        "items_item": cue["items"] * found["item"],
        "items_lead": cue["items"] * found["lead"],
    }
