"""Contradictory evidence, with both sides kept and weighed.

Statements are compared if an index shows another value of the same unit near the same word, another
name in the same relation, or a denial; so time grows linearly.

A side's weight is the sum over its independent voices of the weights of their pages, including
pages read but not quoted, since a statement is quoted once. Copies of a page or of a long sentence
add nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, permutations, product
from math import inf
from typing import NamedTuple

from spadework.tools.ranking.disagreement import (
    Kind,
    about_the_same,
    agree,
    compare,
    disagreement,
    keys,
)
from spadework.tools.ranking.near_duplicates import Sketch, resemblance, sketch
from spadework.tools.ranking.statements import Statement, statements
from spadework.tools.text.facts import names, numbers
from spadework.tools.text.language import language_of, spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.prompt_injection import injection_spans, without_injections
from spadework.tools.text.sentences import sentences
from spadework.values import Conflict, Evidence, Side

#: Statements of this many words and this similarity count as one voice, wherever they occur.
REPEATED_WORDS, REPEATED = 8, 0.8
#: Weight of an unknown page; factor for a page that tries to instruct its readers.
UNKNOWN, SUSPECT = 0.25, 0.25
#: More values near one word are a list, not a contradiction; and maximum statements per value
#: compared with each other one.
MOST_VALUES, MOST_COMPARED = 16, 4
#: Maximum independent voices of a side that another is compared with.
MOST_VOICES = 50


@dataclass(frozen=True)
class Heard:
    """A page that was read: the page it copies, its weight (0..1), and its text."""

    origin: str
    weight: float
    text: str = ""


class _Voice(NamedTuple):
    origin: str
    weight: float
    said: str


class _Told(NamedTuple):
    """A statement of a ledger entry, numbered in order."""

    number: int
    entry: Evidence
    statement: Statement


def conflicts(
    ledger: Sequence[Evidence],
    asked: Collection[str] = (),
    heard: Mapping[str, Heard] | None = None,
    until: float = inf,
) -> list[Conflict]:
    """Return the conflicts within each topic, heavier side first, each once even if two topics
    quote it. `heard` are the pages read, by URL. Stops comparing at `until` (`time.monotonic`).

    `asked` are the stems that a factual question asks about its subject: quotes with different
    values near them conflict.
    """
    known = {e.id: e for e in ledger if e.kind != "code"}
    texts = {id_: plain(e.quote) for id_, e in known.items()}
    against: dict[tuple[str, Kind], dict[str, set[str]]] = {}
    for one, other, kind in _find_conflicts(known.values(), texts, frozenset(asked), until):
        found = against.setdefault((known[one].topic, kind), {})
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    weighing = _Weighing(heard or {}, asked, until)
    made = (
        weighing.weigh(topic, kind, [[known[id_] for id_ in side] for side in sides])
        for (topic, kind), pairs in against.items()
        for sides in _sides({id_: pairs[id_] for id_ in known if id_ in pairs}, texts, kind)
    )
    once: dict[frozenset[str], Conflict] = {}
    for conflict in made:
        once.setdefault(frozenset(side.claim for side in conflict.sides), conflict)
    return list(once.values())


def _find_conflicts(
    entries: Collection[Evidence], texts: Mapping[str, str], asked: frozenset[str], until: float
) -> Iterator[tuple[str, str, Kind]]:
    """Yield pairs of conflicting entries among those the index pairs."""
    seen: set[tuple[int, int]] = set()
    for one, other in _side_by_side(entries, texts):
        if time.monotonic() > until:
            return
        pair = (min(one.number, other.number), max(one.number, other.number))
        a, b = one.entry, other.entry
        copy = a.origin == b.origin and a.content_hash == b.content_hash
        if copy or pair in seen:
            continue
        seen.add(pair)
        if kind := compare(one.statement, other.statement, asked, (a.title, b.title)):
            yield a.id, b.id, kind


def _side_by_side(
    entries: Collection[Evidence], texts: Mapping[str, str]
) -> Iterator[tuple[_Told, _Told]]:
    """Yield pairs of a topic's statements with a common index key and different values, a few per
    value.
    """
    index: dict[tuple[str, ...], dict[Hashable, list[_Told]]] = {}
    usual, numbered = spoken(*texts.values()), count()
    for entry in entries:
        text = texts[entry.id]
        for statement in statements(text, language_of(text) or usual):
            told = _Told(next(numbered), entry, statement)
            for key, value in keys(statement):
                index.setdefault((entry.topic, *key), {}).setdefault(value, []).append(told)
    for beside in index.values():
        if len(beside) <= MOST_VALUES:
            for own, others in permutations(beside.values(), 2):
                yield from product(own, others[:MOST_COMPARED])


def _sides(
    pairs: Mapping[str, set[str]], texts: Mapping[str, str], kind: Kind
) -> list[list[list[str]]]:
    """Split each connected set of conflicts into sides that agree within themselves."""
    found: list[list[list[str]]] = []
    left = dict(pairs)
    while left:
        together, edge = set[str](), {next(iter(left))}
        while edge:
            together |= edge
            edge = {other for id_ in edge for other in pairs[id_]} - together
        sides: list[list[str]] = []
        for id_ in [id_ for id_ in left if id_ in together]:
            left.pop(id_)
            agreeing = (side for side in sides if not pairs[id_] & set(side))
            for side in agreeing:
                if kind in ("negation", "value") or agree(texts[id_], texts[side[0]]):
                    side.append(id_)
                    break
            else:
                sides.append([id_])
        found.append(sides)
    return found


@dataclass(frozen=True)
class _Weighing:
    """Weighs the sides of conflicts by the pages that were read."""

    heard: Mapping[str, Heard]
    asked: Collection[str]
    until: float

    def weigh(self, topic: str, kind: Kind, sides: Sequence[Sequence[Evidence]]) -> Conflict:
        """Return the sides, heaviest first, with weights that sum to 1, each with its heaviest
        quote. A side supported only by newer near-copies of the other sides' pages comes last.
        """
        voices = [[self._voice(e.url, e.origin, plain(e.quote)) for e in side] for side in sides]
        claims = [max(own, key=lambda voice: voice.weight).said for own in voices]
        quoted = {e.url for side in sides for e in side}
        for url, page in self.heard.items():
            if url not in quoted and time.monotonic() <= self.until:
                for side, said in self._borne_out(claims, kind, page.text):
                    voices[side].append(self._voice(url, page.origin, said))
        sums = [sum(_independent(own)) for own in voices]
        made = [
            Side(
                claim=" ".join(claim.split()),
                evidence_ids=tuple(e.id for e in own),
                weight=round(weight / (sum(sums) or 1.0), 3),
                changed_copy=all(_is_changed_copy(e, own, sides) for e in own),
            )
            for claim, own, weight in zip(claims, sides, sums, strict=True)
        ]
        made.sort(key=lambda side: (side.changed_copy, -side.weight))
        return Conflict(topic=topic, kind=kind or "value", sides=tuple(made))

    def _voice(self, url: str, origin: str, said: str) -> _Voice:
        page = self.heard.get(url)
        if page is None:
            return _Voice(origin, UNKNOWN, said)
        return _Voice(origin, page.weight * (SUSPECT if injection_spans(page.text) else 1.0), said)

    def _borne_out(self, claims: Sequence[str], kind: Kind, text: str) -> list[tuple[int, str]]:
        """Return the claims a page supports, each with the sentence: it agrees with one and
        contradicts another. Only lines with a figure or name on which the claims differ are read.
        """
        of = numbers if kind in ("number", "date") else names
        told: list[set[str]] = [of(claim) for claim in claims]
        signs = set[str]().union(*told) - set[str].intersection(*told)
        apart = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(signs)))})(?!\w)")
        found: list[tuple[int, str]] = []
        for line in text.split("\n") if signs else ():
            low = line.lower().replace(",", "")
            if apart.search(low) and time.monotonic() <= self.until:
                found += self._told_in(without_injections(line), claims)
        return found

    def _told_in(self, line: str, claims: Sequence[str]) -> Iterator[tuple[int, str]]:
        for start, end in sentences(line):
            said = plain(line[start:end])
            against = [bool(disagreement(said, claim, self.asked)) for claim in claims]
            for n, claim in enumerate(claims):
                if any(against) and not against[n] and about_the_same(said, claim):
                    yield n, said


def _is_changed_copy(
    entry: Evidence, own: Sequence[Evidence], sides: Sequence[Sequence[Evidence]]
) -> bool:
    """Return whether an entry's page is a newer near-copy of one that another side quotes."""
    return any(
        other.origin == entry.origin
        and other.content_hash != entry.content_hash
        and other.published_at is not None
        and entry.published_at is not None
        and other.published_at < entry.published_at
        for side in sides
        if side is not own
        for other in side
    )


def _independent(voices: Sequence[_Voice]) -> list[float]:
    """Return the weight of every independent voice; copies of pages and of long sentences count
    once.
    """
    kept: list[tuple[_Voice, Sketch]] = []
    origins: set[str] = set()
    for voice in sorted(voices, key=lambda voice: -voice.weight):
        long = len(voice.said.split()) >= REPEATED_WORDS
        own = sketch(voice.said) if long else frozenset()
        repeats = (other for _, other in kept[:MOST_VOICES] if other)
        if voice.origin in origins or (
            long and any(resemblance(own, other) >= REPEATED for other in repeats)
        ):
            continue
        origins.add(voice.origin)
        kept.append((voice, own))
    return [voice.weight for voice, _ in kept]
