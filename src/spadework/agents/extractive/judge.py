"""Choose quotes without a model, by the words they share with the question.

Words are weighted by idf over all that can be quoted. At equal overlap, the requested type (number,
date, name, steps, list) comes first. The figures are in benchmarks/README.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.question_parts import aspects, names_in
from spadework.agents.extractive.slot import Slot, Stems, held_words, stems
from spadework.tools.text.language import language_of

#: Weight of a question word in the headings above a candidate.
ABOVE = 0.5
#: Weight of a question word in the text beside a candidate.
BESIDE = 0.25
#: Weight of a question word outside the current aspect.
ASIDE = 0.3
#: Penalty for length, and advantage of the first page over the last.
LENGTH, FIRST_PAGE = 0.15, 0.5
FITTING = 1.5
#: Maximum characters to quote, and maximum quotes for a proven fact.
ROOM, MOST_PROVEN = 1_500, 3
#: Fraction of the shorter candidate's words that makes a repetition.
SAME = 0.7
#: Commands that install something, code that uses it, and headings above pitfalls.
_INSTALLS = re.compile(
    r"(?i)\binstal|\b(?:uv|cargo|npm|go) (?:add|get|i)\b|установ|インストール|安装"
)
_IMPORTS = re.compile(r"^[ \t>.$]*(?:from|import|require|use|using|#include)\b", re.MULTILINE)
_PITFALLS = re.compile(r"(?i)caveat|pitfall|gotcha|troubleshoot|known (?:issue|problem|bug)")
_AS_CODE = re.compile(
    r"(?i)`([^`]+)`|([\w.]+)(?= (?:module|package|library)\b)|\b(?:module|package|library) ([\w.]+)"
)
#: Minimum score relative to the best candidate.
LEAST = 0.3


@dataclass(frozen=True)
class Scored:
    """A candidate with its stems, the stems around it, and its score. `proves` means that the
    subject and the requested thing occur together.
    """

    candidate: Candidate
    own: Stems
    near: Stems
    score: float
    proves: bool = False


@dataclass(frozen=True)
class Opinion:
    """The candidates to quote, best first. `proven` means that they prove each aspect. `share` is
    the largest fraction of the question's words found together. `missing` are the stems on no page.
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
        self.ranks = _rank_pages(shown)

    def pages_about(self, question: str, named: Stems) -> set[str]:
        """Return the URLs of the pages to consider: those of modules that the question names as
        such, or those with words of its names (`named`), or all.
        """
        modules = {name.casefold() for found in _AS_CODE.findall(question) for name in found}
        titles = {one.shown.page.url: one.shown.page.title for one in self.candidates}
        asked = {u for u, t in titles.items() if t.partition(":")[0].strip().casefold() in modules}
        words = zip(self.candidates, self.own, self.above, strict=True)
        about = {one.shown.page.url for one, own, above in words if named & (own | above)}
        return asked or about or {*titles}

    def ranked(self, slot: Slot, whole: Stems, naming: set[str]) -> list[Scored]:
        """Return the candidates for an aspect from the pages `naming` its subject, best first.
        `whole` holds all words of the question.
        """
        holding = Counter(stem for own in self.own for stem in own & whole)
        idf = {s: math.log(1 + len(self.own) / (holding[s] + 0.5)) for s in whole}
        idf = {s: v if s in slot.stems else ASIDE * v for s, v in idf.items()}
        made = []
        for one, own, above, beside in zip(
            self.candidates, self.own, self.above, self.beside, strict=True
        ):
            if one.shown.page.url not in naming:
                continue
            near = own | above
            shared = (
                _weigh(idf, own)
                + ABOVE * _weigh(idf, above - own)
                + BESIDE * _weigh(idf, beside - near)
            )
            rank = self.ranks[one.shown.page.url]
            score = shared / (1 + LENGTH * math.log(1 + len(own))) * (1 + FIRST_PAGE / (1 + rank))
            fits = slot.fits(one)
            score *= FITTING if fits else 1.0
            fits = fits or slot.kind in ("open", "both sides")
            made.append(Scored(one, own, near, score, fits and slot.proves(one, own, near)))
        return sorted(_by_their_keys(made), key=lambda s: -s.score)


def _by_their_keys(made: Sequence[Scored]) -> Iterator[Scored]:
    """Yield the candidates. If several rows of a page prove the same, none has the question's key,
    so none counts as proof.
    """
    rows = Counter(_page(s) for s in made if s.proves and s.candidate.kind == "row")
    for one in made:
        shared = one.candidate.kind == "row" and rows[_page(one)] > 1
        yield replace(one, proves=False) if shared else one


def _page(one: Scored) -> str:
    return one.candidate.shown.page.content_hash


def _weigh(idf: dict[str, float], own: Iterable[str]) -> float:
    # Sets have no fixed order, and plain float sums depend on it.
    return math.fsum(idf[s] for s in own if s in idf)


def judge_passages(
    question: str, shown: Sequence[PassageView], quoted: Sequence[str] = ()
) -> Opinion:
    """Return what to quote for a question, and whether it proves the answer. Text in `quoted` is
    not repeated.
    """
    pool = Pool(shown)
    code = language_of(question) or pool.language
    whole = stems(question, code)
    slots = [Slot(aspect, question, code) for aspect in aspects(question, code)]
    before = [stems(text, code) for text in quoted]
    named = stems(" ".join(names_in(question)), code)
    naming = pool.pages_about(question, named)
    chosen: list[Scored] = []
    proven = True
    for slot in slots:
        ranked = pool.ranked(slot, whole, naming)
        if slot.kind == "steps":
            ranked = _parts_first(ranked, named or slot.words, slot.words, pool.ranks)
        own = choose(ranked, slot, ROOM // len(slots), before, chosen)
        proven = proven and any(one.proves for one in own)
        chosen += own
    words = frozenset().union(*(slot.words for slot in slots))
    return Opinion(
        tuple(chosen),
        proven and bool(chosen),
        max((len(s.near & words) / len(words) for s in chosen if words), default=0.0),
        words - held_words(words, frozenset().union(*pool.own, *pool.above)),
    )


def _parts_first(
    ranked: list[Scored], subject: Stems, words: Stems, ranks: Mapping[str, int]
) -> list[Scored]:
    """Return the installation, first use, one further use and a pitfall. Code from the subject's
    modules is ordered by page `ranks`. Return all candidates if no code shows a use, or these parts
    and pages about the subject lack words of the question.
    """
    headed = [(_heads(one), one) for one in ranked]
    own = [one for (head, _), one in headed if head and head <= subject]
    own.sort(key=lambda s: s.candidate.start)
    modules = [one for (head, top), one in headed if head > subject and top and top <= subject]
    modules.sort(key=lambda s: ranks[s.candidate.shown.page.url])
    codes = [one for one in (*own, *modules) if one.candidate.kind == "code"]
    installs = [one for one in codes if _INSTALLS.search(_headed(one))]
    uses = [one for one in codes if one not in installs]
    uses.sort(key=lambda s: (not _IMPORTS.search(s.candidate.text), not subject & s.own))
    more = [one for one in uses[1:] if subject & one.own and _IMPORTS.search(one.candidate.text)]
    further = sorted(more, key=lambda s: -s.score)[:1]
    pitfalls = [one for one in own if _PITFALLS.search(one.candidate.shown.heading)]
    parts = [*installs[:1], *uses[:1], *further, *pitfalls[:1]]
    met = frozenset[str]().union(*(one.near for one in (*own, *parts)))
    if not uses or held_words(words, met) < words:
        return ranked
    best = max(one.score for one in ranked)
    return [replace(one, proves=True, score=best) for one in parts]


def _headed(one: Scored) -> str:
    return f"{one.candidate.shown.heading}\n{one.candidate.text}"


def _heads(one: Scored) -> tuple[Stems, Stems]:
    head, code = one.candidate.shown.page.title.partition(":")[0], one.candidate.language
    return stems(head, code), stems(head.partition(".")[0], code)


def choose(
    ranked: Sequence[Scored],
    slot: Slot,
    room: int,
    quoted: Sequence[Stems] = (),
    taken: Sequence[Scored] = (),
) -> list[Scored]:
    """Return the best candidates that repeat none of those `taken` or `quoted`, proofs first. A
    proven fact gets at most MOST_PROVEN; otherwise as many as fit in `room` characters are chosen.
    """
    chosen, before, used = list[Scored](), [*quoted, *(s.own for s in taken)], 0
    least = LEAST * max((one.score for one in ranked), default=0.0)
    for one in _proofs_first(ranked, slot):
        if chosen and not one.proves and _is_enough(chosen[0], slot):
            break
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


def _is_enough(best: Scored, slot: Slot) -> bool:
    """Return whether only proofs should follow `best`. It must be a proof, and be a definition, a
    list, or a row with column names.
    """
    found = best.candidate
    whole = found.kind == "list" or any(name not in ("", cell) for name, cell in found.cells)
    return best.proves and (whole or slot.kind == "definition")


def _proofs_first(ranked: Sequence[Scored], slot: Slot) -> list[Scored]:
    """Put proofs first. For a definition, those of the best page keep their order."""
    proving = [one for one in ranked if one.proves]
    if slot.kind == "definition" and proving:
        first = _page(proving[0])
        proving.sort(key=lambda s: (_page(s) != first, _page(s) == first and s.candidate.start))
    return [*proving, *(one for one in ranked if not one.proves)]


def _in_lists(chosen: Sequence[Scored]) -> list[Scored]:
    """Group chosen items of one list, or rows of one table, at the position of the first."""
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
    pages = {each.page.url: each.page for each in shown}

    def place(url: str) -> tuple[float, float]:
        own = [found.rank for found in pages[url].found_by if found.kind == "original"]
        return min(own, default=math.inf), -pages[url].rrf

    return {url: n for n, url in enumerate(sorted(pages, key=place))}
