"""Find evidence that contradicts other evidence, and weigh both sides.

Only statements that share an index key (see `keys`) are compared, so that the running time grows
linearly with their number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import count, permutations, product
from typing import Literal, NamedTuple

from spadework.deadline import Late
from spadework.tools.ranking.selection import bare
from spadework.tools.ranking.statements import (
    DATE,
    FIGURE,
    STOP,
    Sketch,
    Statement,
    Value,
    content_stems,
    resemblance,
    sketch,
    statements,
)
from spadework.tools.text.facts import Quantity, differ, is_same, names, numbers, relations, stems
from spadework.tools.text.language import language_of, spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.prompt_injection import injection_spans, without_injections
from spadework.tools.text.sentences import sentences
from spadework.values import Conflict, Evidence, Side

Kind = Literal["number", "date", "negation", "value", ""]

#: Two statements are about the same thing if they share at least the fraction SAME of the shorter
#: one's words, and at least LEAST words.
SAME, LEAST = 0.6, 2
#: A sentence and its negation share at least this fraction of the longer one's words.
SAME_BUT_DENIED = 0.8
#: A statement is about a page's subject if it contains at least this fraction of the words in the
#: page's title.
TITLED = 0.5


def disagreement(
    one: str, other: str, asked: Collection[str] = (), titles: tuple[str, str] = ("", "")
) -> Kind:
    """Return the kind of disagreement between two statements, or "" if there is none. Values near a
    word stem in `asked` are compared even if the statements share few words. `titles` are the
    pages' titles, or "" if unknown.
    """
    code = spoken(one, other)
    sought = frozenset(asked)
    pairs = product(statements(one, code), statements(other, code))
    for a, b in pairs:
        if kind := compare(a, b, sought, titles):
            return kind
    return ""


def compare(
    a: Statement,
    b: Statement,
    asked: frozenset[str] = frozenset(),
    titles: tuple[str, str] = ("", ""),
) -> Kind:
    """Return the kind of disagreement between two sentences, or ""."""
    kind: Kind = ""
    if not (a.is_sentence and b.is_sentence):
        return ""
    if differ(a.text, b.text, asked):
        kind = "value"
    elif not _names_others(a, b):
        apart = _values_apart(a, b, asked)
        kind = apart or ("negation" if _denies(a, b) else "")
        kind = "" if kind and _contrast(a, b) else kind
    return "" if kind and _pages_are_of_others(a, b, titles) else kind


def figures_apart(one: str, other: str, *, years: bool) -> tuple[str, str] | None:
    """Return two figures that differ, one from each statement, as written. Return None if there are
    none. If `years` is true, compare dates instead.
    """
    code = spoken(one, other)
    for a, b in product(statements(one, code), statements(other, code)):
        for x, y in _likes(a, b):
            if (x.unit == DATE) == years and x.near & y.near and _differ(x, y):
                return x.text, y.text
    return None


def agree(one: str, other: str) -> bool:
    """Return whether two statements contain the same figure or date."""
    code = spoken(one, other)
    pairs = product(statements(one, code), statements(other, code))
    return any(not _differ(x, y) for a, b in pairs for x, y in _likes(a, b))


def keys(statement: Statement) -> Iterator[tuple[tuple[str, ...], Hashable]]:
    """Yield index keys and values. Statements that disagree share a key but not its value."""
    for value in statement.values:
        for word in value.near - statement.names:
            yield (value.unit, word), value.date if value.unit == DATE else value.ranges
    for relation in relations(statement.text):
        yield ("=", relation.what), relation.value
    for word in statement.words:
        yield ("not", word), statement.denied


def about_the_same(one: str, other: str) -> bool:
    """Return whether two statements share most of the shorter one's words."""
    code = spoken(one, other)
    a, b = content_stems(one, code), content_stems(other, code)
    return bool(a and b) and len(a & b) >= SAME * min(len(a), len(b))


def _names_others(a: Statement, b: Statement) -> bool:
    labels = a.labels - b.labels and b.labels - a.labels
    return bool(labels or (a.names - b.words and b.names - a.words))


def _pages_are_of_others(a: Statement, b: Statement, titles: tuple[str, str]) -> bool:
    """Return whether page titles show that the statements are about different things."""
    first, second = (_title_stems(title, a.code) for title in titles)
    if not first or not second:
        return False
    if first != second and _opens(a, titles[0]) and _opens(b, titles[1]):
        return True
    spoken_of = ((min(first, second, key=len), first & second), (first, b.words), (second, a.words))
    return not any(len(own & said) >= TITLED * len(own) for own, said in spoken_of)


@lru_cache(maxsize=2_048)
def _title_stems(title: str, code: str) -> frozenset[str]:
    return frozenset(stems(bare(title), code))


def _opens(statement: Statement, title: str) -> bool:
    named, code = bare(title), statement.code
    begun = " ".join(statement.text.split()[: len(named.split())])
    return stems(begun, code) == stems(named, code)


def _values_apart(
    a: Statement, b: Statement, asked: frozenset[str]
) -> Literal["date", "number", ""]:
    """Return the kind of value on which two statements differ, or ""."""
    alike = _is_alike(a, b)
    likes = [(x, y, _differ(x, y)) for x, y in _likes(a, b)]
    agreed = {value for x, y, apart in likes if not apart for value in (x, y)}
    left = [(x, y) for x, y, apart in likes if apart and not {x, y} & agreed]
    of_years = {x.unit == DATE for x, _ in left} == {True, False}
    for x, y in left:
        if of_years and (x.unit == DATE or x.dated or y.dated):
            continue
        shared = (x.near & y.near) - (a.names & b.names)
        if shared and (alike or not shared.isdisjoint(asked)):
            return "date" if x.unit == DATE else "number"
    return ""


def _likes(a: Statement, b: Statement) -> Iterator[tuple[Value, Value]]:
    for x, y in product(a.values, b.values):
        if x.unit == y.unit:
            yield x, y


def _is_alike(a: Statement, b: Statement) -> bool:
    shared = len(a.words & b.words)
    enough = shared >= LEAST or (shared and a.words == b.words)
    return bool(enough) and shared >= SAME * min(len(a.words), len(b.words))


def _differ(x: Value, y: Value) -> bool:
    if x.unit == DATE:
        return any(
            one and other and one != other for one, other in zip(x.date, y.date, strict=True)
        )
    if x.bound == y.bound:
        return not any(_overlap(one, other) for one, other in product(x.ranges, y.ranges))
    if x.bound and y.bound:
        return False
    bounded, exact = (x, y) if x.bound else (y, x)
    return all(
        end.value < bound.value if bounded.bound == "more" else start.value > bound.value
        for (bound, _), (start, end) in product(bounded.ranges, exact.ranges)
    )


def _overlap(one: tuple[Quantity, Quantity], other: tuple[Quantity, Quantity]) -> bool:
    (low, high), (start, end) = one, other
    if low.dimension != start.dimension:
        return False
    same = is_same(low, start) or is_same(start, low)
    return same or (low.value <= end.value and start.value <= high.value)


def _contrast(a: Statement, b: Statement) -> bool:
    """Return whether parallel sentences concern different things ("adults pay", "children pay")."""
    values = [n for n, word in enumerate(a.frame) if word in (DATE, FIGURE)]
    last = max(values, default=len(a.frame)) + 2
    matcher = SequenceMatcher(None, a.frame, b.frame, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        ours, theirs = list(a.frame[i:j]), list(b.frame[k:m])
        if a.frame[j : j + 1] == b.frame[m : m + 1] == (FIGURE,):
            ours, theirs = ours[:-1], theirs[:-1]
        bare_words = not any(word[0] in (DATE, FIGURE, STOP) for word in (*ours, *theirs))
        other = set(ours) - b.words and set(theirs) - a.words
        if kind == "replace" and i <= last and bare_words and other:
            return True
    return False


def _denies(a: Statement, b: Statement) -> bool:
    alike = len(a.words & b.words) >= SAME_BUT_DENIED * max(len(a.words), len(b.words), 1)
    return alike and a.denied != b.denied


#: Statements of at least REPEATED_WORDS words whose similarity is at least REPEATED count as one,
#: even if they come from independent sources.
REPEATED_WORDS, REPEATED = 8, 0.8
#: The weight of a page that was not read, and the factor for the weight of a page that contains a
#: prompt injection.
UNKNOWN, SUSPECT = 0.25, 0.25
#: If statements with the same index key have more than MOST_VALUES different values, the values are
#: assumed to be a list and are not compared. Otherwise, each statement is compared with at most
#: MOST_COMPARED statements per different value.
MOST_VALUES, MOST_COMPARED = 16, 4
MOST_VOICES = 50


@dataclass(frozen=True)
class Heard:
    """A page that was read. `origin` identifies the page it copies, if any, or the page itself."""

    origin: str
    weight: float
    text: str = ""


class _Voice(NamedTuple):
    origin: str
    weight: float
    said: str


class _Told(NamedTuple):
    number: int
    entry: Evidence
    statement: Statement


def conflicts(
    ledger: Sequence[Evidence],
    asked: Collection[str] = (),
    heard: Mapping[str, Heard] | None = None,
    late: Late = lambda: False,
) -> list[Conflict]:
    """Return the disagreements within each topic, each with its heavier side first.

    - `heard`: the pages that were read, by URL.
    - `asked`: stems of the words that say what a factual question asks for, without its subjects.

    Comparing stops when `late` returns True.
    """
    known = {e.id: e for e in ledger if e.kind != "code"}
    texts = {id_: plain(e.quote) for id_, e in known.items()}
    against: dict[tuple[str, Kind], dict[str, set[str]]] = {}
    for one, other, kind in _find_conflicts(known.values(), texts, frozenset(asked), late):
        found = against.setdefault((known[one].topic, kind), {})
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    weighing = _Weighing(heard or {}, asked, late)
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
    entries: Collection[Evidence], texts: Mapping[str, str], asked: frozenset[str], late: Late
) -> Iterator[tuple[str, str, Kind]]:
    seen: set[tuple[int, int]] = set()
    for one, other in _side_by_side(entries, texts):
        if late():
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
    """Yield pairs of statements with different values for the same index key."""
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
    heard: Mapping[str, Heard]
    asked: Collection[str]
    late: Late

    def weigh(self, topic: str, kind: Kind, sides: Sequence[Sequence[Evidence]]) -> Conflict:
        """Weigh the sides (total 1). Sort them by weight, but put altered copies of pages last."""
        voices = [[self._voice(e.url, e.origin, plain(e.quote)) for e in side] for side in sides]
        claims = [max(own, key=lambda voice: voice.weight).said for own in voices]
        quoted = {e.url for side in sides for e in side}
        for url, page in self.heard.items():
            if url not in quoted and not self.late():
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
        """Return (claim index, sentence) if a sentence supports a claim and contradicts another."""
        of = numbers if kind in ("number", "date") else names
        told: list[set[str]] = [of(claim) for claim in claims]
        signs = set[str]().union(*told) - set[str].intersection(*told)
        apart = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(signs)))})(?!\w)")
        found: list[tuple[int, str]] = []
        for line in text.split("\n") if signs else ():
            low = line.lower().replace(",", "")
            if apart.search(low) and not self.late():
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
