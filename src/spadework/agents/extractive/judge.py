"""Choosing what to quote without a model: what shares most with the question, by plain words.

A word of the question weighs its idf over all that could be quoted of the pages read. What looks
like the asked type (a number, a date, a name, steps, a list) comes before what shares as much. The
figures stand in benchmarks/README.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.question_parts import aspects
from spadework.agents.extractive.slot import Slot, Stems, stems
from spadework.tools.text.language import language_of

#: What a word of the question counts that stands above a candidate, beside it, or outside of the
#: aspect that is looked at.
ABOVE, BESIDE, ASIDE = 0.5, 0.25, 0.3
#: What a long candidate pays, and what the first of the pages is ahead of the last.
LENGTH, FIRST_PAGE = 0.15, 0.5
#: What it counts to look like what is asked for.
FITTING = 1.5
#: Characters that are quoted, and sentences that a fact gets where it is proven.
ROOM, MOST_PROVEN = 1_500, 3
#: Of the words of the shorter of two candidates so many make it a repetition.
SAME = 0.7
#: What is quoted shares at least this part of what the best shares.
LEAST = 0.3


@dataclass(frozen=True)
class Scored:
    """A candidate with its stems, the stems around it, its score, and whether it proves the answer:
    the subject and the asked thing stand together in it.
    """

    candidate: Candidate
    own: Stems
    near: Stems
    score: float
    proves: bool = False


@dataclass(frozen=True)
class Opinion:
    """What would be quoted, best first; whether it proves each aspect of the question; the largest
    share of the question's words that stand together, 0..1; and the stems that no page holds.
    """

    chosen: tuple[Scored, ...] = ()
    proven: bool = False
    share: float = 0.0
    missing: frozenset[str] = frozenset()


class Pool:
    """All that could be quoted of the passages shown, with its stems and the rank of its page."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self.candidates = candidates(shown)
        self.own = [stems(one.text, one.language) for one in self.candidates]
        self.above = [
            stems(f"{one.shown.page.title}\n{one.shown.heading}\n{one.lead}", one.language)
            for one in self.candidates
        ]
        self.beside = [stems(f"{one.before} {one.after}", one.language) for one in self.candidates]
        codes = Counter(one.language for one in self.candidates)
        self.language = codes.most_common(1)[0][0] if codes else "en"
        self._ranks = _rank_pages(shown)

    def ranked(self, slot: Slot, whole: Stems) -> list[Scored]:
        """Return the candidates for what is asked, best first; `whole` are all the words of the
        question.
        """
        holding = Counter(stem for own in self.own for stem in own & whole)
        idf = {s: math.log(1 + len(self.own) / (holding[s] + 0.5)) for s in whole}
        idf = {s: v if s in slot.stems else ASIDE * v for s, v in idf.items()}
        made = []
        for one, own, above, beside in zip(
            self.candidates, self.own, self.above, self.beside, strict=True
        ):
            near = own | above
            shared = (
                _weigh(idf, own)
                + ABOVE * _weigh(idf, above - own)
                + BESIDE * _weigh(idf, beside - near)
            )
            rank = self._ranks[one.shown.page.url]
            score = shared / (1 + LENGTH * math.log(1 + len(own))) * (1 + FIRST_PAGE / (1 + rank))
            fits = slot.fits(one)
            score *= FITTING if fits else 1.0
            fits = fits or slot.kind in ("open", "both sides")
            made.append(Scored(one, own, near, score, fits and slot.proves(one, own, near)))
        return sorted(_by_their_keys(made), key=lambda s: -s.score)


def _by_their_keys(made: Sequence[Scored]) -> Iterator[Scored]:
    """Yield the candidates; rows of one page that prove the same question have no key in it, and
    prove nothing.
    """
    rows = Counter(_page(s) for s in made if s.proves and s.candidate.kind == "row")
    for one in made:
        shared = one.candidate.kind == "row" and rows[_page(one)] > 1
        yield replace(one, proves=False) if shared else one


def _page(one: Scored) -> str:
    return one.candidate.shown.page.content_hash


def _weigh(idf: dict[str, float], own: Iterable[str]) -> float:
    # Sets have no order that lasts, and plain sums of floats depend on one.
    return math.fsum(idf[s] for s in own if s in idf)


def judge_passages(
    question: str, shown: Sequence[PassageView], quoted: Sequence[str] = ()
) -> Opinion:
    """Return the opinion on a question and the passages shown. What was `quoted` before is not
    quoted again.
    """
    pool = Pool(shown)
    code = language_of(question) or pool.language
    whole = stems(question, code)
    slots = [Slot(aspect, question, code) for aspect in aspects(question, code)]
    before = [stems(text, code) for text in quoted]
    chosen: list[Scored] = []
    proven = True
    for slot in slots:
        own = choose(pool.ranked(slot, whole), slot, ROOM // len(slots), before, chosen)
        proven = proven and any(one.proves for one in own)
        chosen += own
    words = frozenset().union(*(slot.words for slot in slots))
    return Opinion(
        tuple(chosen),
        proven and bool(chosen),
        max((len(s.near & words) / len(words) for s in chosen if words), default=0.0),
        words.difference(*pool.own, *pool.above),
    )


def choose(
    ranked: Sequence[Scored],
    slot: Slot,
    room: int,
    quoted: Sequence[Stems] = (),
    taken: Sequence[Scored] = (),
) -> list[Scored]:
    """Return the best beside what is `taken`, without what repeats another: what proves the answer
    first, and of a fact that is proven no more than a few sentences; else until the room is filled.
    """
    chosen, before, used = list[Scored](), [*quoted, *(s.own for s in taken)], 0
    least = LEAST * max((one.score for one in ranked), default=0.0)
    for one in _leading(ranked, slot):
        if chosen and chosen[0].proves and slot.is_fact and len(chosen) == MOST_PROVEN:
            break
        size = len(one.candidate.text)
        met = any(one.candidate.overlaps(other.candidate) for other in (*taken, *chosen))
        fits = not chosen or used + size <= room
        if one.score > least and fits and not met and _is_new(one, before):
            chosen.append(one)
            before.append(one.own)
            used += size
    return _in_lists(chosen)


def _leading(ranked: Sequence[Scored], slot: Slot) -> list[Scored]:
    """Return the candidates with those that prove the answer first: of a definition, on the page of
    the best, in its order.
    """
    proving = [one for one in ranked if one.proves]
    if slot.kind == "definition" and proving:
        first = _page(proving[0])
        proving.sort(key=lambda s: (_page(s) != first, _page(s) == first and s.candidate.start))
    return [*proving, *(one for one in ranked if not one.proves)]


def _in_lists(chosen: Sequence[Scored]) -> list[Scored]:
    """Return what is chosen with the items of one list, or rows of one table, in its order,
    where the first of them stood.
    """
    places = [
        (_page(s), s.candidate.block if s.candidate.kind in ("item", "row") else s.candidate.spans)
        for s in chosen
    ]
    order = sorted(
        range(len(chosen)), key=lambda n: (places.index(places[n]), chosen[n].candidate.start)
    )
    return [chosen[n] for n in order]


def _is_new(one: Scored, quoted: Sequence[Stems]) -> bool:
    """Return whether a candidate says something else than what was quoted; another figure does."""
    figures = {stem for stem in one.own if stem.isdecimal()}
    return not any(
        len(one.own & other) > SAME * min(len(one.own), len(other)) and figures <= other
        for other in quoted
        if other
    )


def _rank_pages(shown: Sequence[PassageView]) -> dict[str, int]:
    """Return the place of every page by its URL: as the question under its own words found them,
    then by fused score.
    """
    pages = {each.page.url: each.page for each in shown}

    def place(url: str) -> tuple[float, float]:
        own = [found.rank for found in pages[url].found_by if found.kind == "original"]
        return min(own, default=math.inf), -pages[url].rrf

    return {url: n for n, url in enumerate(sorted(pages, key=place))}
