"""The judge without a model: ranks what could be quoted for a question, chooses what to quote, and
says how likely that holds the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spadework.agents.extractive.candidate_features import (
    Asked,
    Parts,
    Places,
    Stems,
    Vector,
    stems,
    vector,
)
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.question_parts import aspects
from spadework.agents.extractive.weights import Extent, probability, weigh_features, weights
from spadework.agents.passage_view import PassageView
from spadework.tools.text.detect import language_of

#: Candidates that are looked at closely, those that share most with the question; and that can be
#: chosen.
MOST_RANKED, MOST_CHOSEN_FROM = 250, 80
#: How far a candidate reaches to those beside it on its page.
BESIDE = 3
#: From this share of the room on it counts as filled.
FILLED = 0.93
#: What was chosen is told by the first so many, and by these features of the best.
FIRST = 5
_OF_THE_BEST = (
    "near",
    "all",
    "clause_near",
    "heading_fits",
    "title_fits",
    "passage",
    "passage_score",
)


@dataclass(frozen=True)
class Scored:
    """A candidate with its stems, its features and its score (higher is better; only differences
    mean something).
    """

    candidate: Candidate
    parts: Parts
    features: Vector
    score: float


@dataclass(frozen=True)
class Opinion:
    """What would be quoted, best first, and how likely it holds the answer, 0..1."""

    chosen: tuple[Scored, ...]
    probability: float


def judge_passages(
    question: str, shown: Sequence[PassageView], said: Sequence[str] = (), *, short: bool = False
) -> Opinion:
    """The opinion on a question and the passages shown; `short` for one that a sentence or two
    answer. What was `said` before is not said again.
    """
    code = language_of(question)
    before = [stems(text, code or "en") for text in said]
    chosen: list[Scored] = []
    found: list[Vector] = []
    views = rank_candidates(question, code, shown)
    extent = extent_for(len(views), short=short)
    for asked, scored in views:
        own = choose(scored, extent.room, before, chosen)
        if own:
            found.append(choice_features(asked, scored, own))
        chosen += near(own, extent.within)
    if not chosen:
        return Opinion((), 0.0)
    likely = probability(together(found, len(views)), weights().answered)
    return Opinion(tuple(chosen), likely)


def extent_for(aspects: int, *, short: bool) -> Extent:
    """How much is quoted for each aspect of a question."""
    whole = weights().fact if short and aspects == 1 else weights().more
    return whole.model_copy(update={"room": whole.room // aspects})


def rank_candidates(
    question: str, code: str, shown: Sequence[PassageView]
) -> list[tuple[Asked, list[Scored]]]:
    """For each aspect of a question how it is weighed, and the best candidates, best first."""
    found = candidates(shown)
    parts = [Parts.of(one) for one in found]
    code = code or _most_used(found)
    own = [each.own for each in parts]
    made = []
    for aspect in aspects(question, code):
        asked = Asked(question, code, own, aspect)
        made.append((asked, rank(asked, found, parts, shown)))
    return made


def rank(
    asked: Asked, found: Sequence[Candidate], parts: Sequence[Parts], shown: Sequence[PassageView]
) -> list[Scored]:
    """The best candidates for what is asked, best first."""
    places = Places(asked, shown, _ranks(shown))
    rough = sorted(
        range(len(found)),
        key=lambda n: -_rough(asked, parts[n], places.ranks[found[n].shown.page.url]),
    )
    scored = []
    for one, part in [(found[n], parts[n]) for n in rough[:MOST_RANKED]]:
        features = vector(one, part, asked, places.of(one.shown))
        scored.append(Scored(one, part, features, weigh_features(features, weights().candidate)))
    return sorted(_lift_neighbours(scored), key=lambda s: -s.score)


def _rough(asked: Asked, parts: Parts, rank: int) -> float:
    return asked.share(parts.own) + 0.4 * asked.share(parts.all) + 0.3 / (1 + rank)


def _most_used(found: Sequence[Candidate]) -> str:
    """The language of most candidates: that of a question too short to tell."""
    codes = [one.language for one in found]
    return max(sorted(set(codes)), key=codes.count, default="en")


def _ranks(shown: Sequence[PassageView]) -> dict[str, int]:
    """The place of every page among those shown: as the question under its own words found them,
    then by fused score.
    """
    pages = {each.page.url: each.page for each in shown}

    def place(url: str) -> tuple[float, float]:
        own = [found.rank for found in pages[url].found_by if found.kind == "original"]
        return min(own, default=math.inf), -pages[url].rrf

    return {url: n for n, url in enumerate(sorted(pages, key=place))}


def _lift_neighbours(scored: Sequence[Scored]) -> Iterator[Scored]:
    """Every candidate with a part of what the best beside it on its page has more."""
    order = sorted(
        scored, key=lambda s: (s.candidate.shown.page.url, s.candidate.start, s.candidate.end)
    )
    for n, one in enumerate(order):
        near = [
            other.score
            for other in order[max(0, n - BESIDE) : n + BESIDE + 1]
            if other.candidate.shown.page.url == one.candidate.shown.page.url
        ]
        lift = weights().beside * max(0.0, max(near) - one.score)
        yield Scored(one.candidate, one.parts, one.features, one.score + lift)


def choose(
    ranked: Sequence[Scored],
    room: int,
    said: Sequence[Stems] = (),
    taken: Sequence[Scored] = (),
) -> list[Scored]:
    """What to quote beside what is `taken`: the best for its length, without what says the same
    again, until the room is filled or what is left is far behind the best.
    """
    chosen, before, used = list[Scored](), [*said, *(s.parts.own for s in taken)], 0
    fit = near(ranked, weights().more.within)[:MOST_CHOSEN_FROM]
    for one in sorted(fit, key=_worth, reverse=True):
        size = len(one.candidate.text)
        if (chosen and used + size > room) or _again(one, [*taken, *chosen], before):
            continue
        chosen.append(one)
        before.append(one.parts.own)
        used += size
        if used >= FILLED * room:
            break
    return chosen


def near(scored: Sequence[Scored], within: float) -> list[Scored]:
    """Those that are not more than `within` behind the best, by their worth."""
    best = max(map(_worth, scored), default=0.0)
    return [s for s in scored if _worth(s) >= best - within]


def _worth(one: Scored) -> float:
    """The score of a candidate less what its length costs."""
    return one.score - weights().long * len(one.candidate.text) / 1000


def _again(one: Scored, chosen: Sequence[Scored], said: Sequence[Stems]) -> bool:
    """Whether a candidate stands in what is chosen, or says what was said. Another figure says
    something else.
    """
    own, same = one.parts.own, weights().same
    figures = {stem for stem in own if stem.isdecimal()}
    return any(one.candidate.overlaps(other.candidate) for other in chosen) or any(
        len(own & other) > same * min(len(own), len(other)) and figures <= other
        for other in said
        if other
    )


def choice_features(asked: Asked, ranked: Sequence[Scored], chosen: Sequence[Scored]) -> Vector:
    """The features of what was chosen, by which it is told how likely it holds the answer."""
    first, best = chosen[:FIRST], chosen[0]
    scores = [s.score for s in ranked]
    raised = [math.exp(score - scores[0]) for score in scores]
    shares = [value / math.fsum(raised) for value in raised]
    return {
        **{name: best.features[name] for name in _OF_THE_BEST},
        "most_near": max(s.features["near"] for s in first),
        "most_all": max(s.features["all"] for s in first),
        "ahead": scores[0] - scores[min(9, len(scores) - 1)],
        "spread": -math.fsum(p * math.log(p) for p in shares if p > 0) / 5,
        "uses": float(any(s.features["steps_uses"] for s in first)),
        "alone": 1 / len(chosen),
        "asks_compare": float("compare" in asked.cues),
        "asks_date": float("date" in asked.cues),
    }


def together(found: Sequence[Vector], aspects: int) -> Vector:
    """The features of several aspects as one: their means."""
    return {name: math.fsum(each[name] for each in found) / aspects for name in found[0]}
