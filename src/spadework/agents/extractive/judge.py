"""Choice of quotes without a model, by words shared with the question.

A word's weight is its idf over everything quotable in the pages read. Candidates of the requested
type (number, date, name, steps, list) precede others with equal overlap. See benchmarks/README.md
for the figures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.question_parts import aspects, names_in
from spadework.agents.extractive.slot import Slot, Stems, stems
from spadework.tools.text.language import language_of

#: Weight of a question word above a candidate, next to it, or outside the current aspect.
ABOVE, BESIDE, ASIDE = 0.5, 0.25, 0.3
#: Penalty for length, and advantage of the first page over the last.
LENGTH, FIRST_PAGE = 0.15, 0.5
#: Factor for candidates of the requested type.
FITTING = 1.5
#: Maximum characters quoted, and maximum sentences for a proven fact.
ROOM, MOST_PROVEN = 1_500, 3
#: Share of the shorter candidate's words that makes a repetition.
SAME = 0.7
#: Minimum overlap relative to the best candidate.
LEAST = 0.3


@dataclass(frozen=True)
class Scored:
    """A candidate with its stems, surrounding stems and score, and whether it proves the answer:
    subject and requested thing occur together.
    """

    candidate: Candidate
    own: Stems
    near: Stems
    score: float
    proves: bool = False


@dataclass(frozen=True)
class Opinion:
    """What to quote, best first; whether it proves each aspect; the largest share of the question's
    words found together, 0..1; and the stems on no page.
    """

    chosen: tuple[Scored, ...] = ()
    proven: bool = False
    share: float = 0.0
    missing: frozenset[str] = frozenset()


class Pool:
    """Everything quotable in the passages, with stems and page ranks."""

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

    def ranked(self, slot: Slot, whole: Stems, named: Stems) -> list[Scored]:
        """Return the candidates for an aspect, best first; `whole` are all words of the question.
        Where some page has a word of the names in it, `named`, pages without any are left out.
        """
        naming = {
            one.shown.page.url
            for one, own, above in zip(self.candidates, self.own, self.above, strict=True)
            if named & (own | above)
        }
        holding = Counter(stem for own in self.own for stem in own & whole)
        idf = {s: math.log(1 + len(self.own) / (holding[s] + 0.5)) for s in whole}
        idf = {s: v if s in slot.stems else ASIDE * v for s, v in idf.items()}
        made = []
        for one, own, above, beside in zip(
            self.candidates, self.own, self.above, self.beside, strict=True
        ):
            if naming and one.shown.page.url not in naming:
                continue
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
    """Yield the candidates; several rows of one page that prove the same contain no key of the
    question, so they prove nothing.
    """
    rows = Counter(_page(s) for s in made if s.proves and s.candidate.kind == "row")
    for one in made:
        shared = one.candidate.kind == "row" and rows[_page(one)] > 1
        yield replace(one, proves=False) if shared else one


def _page(one: Scored) -> str:
    return one.candidate.shown.page.content_hash


def _weigh(idf: dict[str, float], own: Iterable[str]) -> float:
    # Sets are unordered, and plain float sums depend on order.
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
    named = stems(" ".join(names_in(question)), code)
    chosen: list[Scored] = []
    proven = True
    for slot in slots:
        own = choose(pool.ranked(slot, whole, named), slot, ROOM // len(slots), before, chosen)
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
    """Return the best candidates in addition to those `taken`, without repetitions: proofs first,
    few for a proven fact, else as many as fit.
    """
    chosen, before, used = list[Scored](), [*quoted, *(s.own for s in taken)], 0
    least = LEAST * max((one.score for one in ranked), default=0.0)
    for one in _proofs_first(ranked, slot):
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


def _proofs_first(ranked: Sequence[Scored], slot: Slot) -> list[Scored]:
    """Return the candidates, proofs first; for a definition, in the order of the best page."""
    proving = [one for one in ranked if one.proves]
    if slot.kind == "definition" and proving:
        first = _page(proving[0])
        proving.sort(key=lambda s: (_page(s) != first, _page(s) == first and s.candidate.start))
    return [*proving, *(one for one in ranked if not one.proves)]


def _in_lists(chosen: Sequence[Scored]) -> list[Scored]:
    """Return the chosen, with items of one list or rows of one table in order, at the position of
    the first.
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
    figures = {stem for stem in one.own if stem.isdecimal()}
    return not any(
        len(one.own & other) > SAME * min(len(one.own), len(other)) and figures <= other
        for other in quoted
        if other
    )


def _rank_pages(shown: Sequence[PassageView]) -> dict[str, int]:
    """Return the rank of every page by URL: by the original query's results, then by fused
    score.
    """
    pages = {each.page.url: each.page for each in shown}

    def place(url: str) -> tuple[float, float]:
        own = [found.rank for found in pages[url].found_by if found.kind == "original"]
        return min(own, default=math.inf), -pages[url].rrf

    return {url: n for n, url in enumerate(sorted(pages, key=place))}
