"""Evidence that disagrees, with both sides kept and weighed.

What a side weighs is the sum over its independent voices, each by the weight of its page: of all
pages that were read, not only of those that are quoted, since a statement is quoted once. Whoever
repeats a page or a long enough sentence adds nothing to it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from spadework.tools.ranking.disagreement import Kind, about_the_same, disagreement
from spadework.tools.ranking.near_duplicates import resemblance, sketch
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import names, numbers
from spadework.tools.text.markdown_marks import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Conflict, Evidence, Side

#: Statements of so many words that resemble each other so much are one voice, wherever they stand.
REPEATED_WORDS, REPEATED = 8, 0.8
#: What a page weighs of which nothing is known.
UNKNOWN = 0.25


@dataclass(frozen=True)
class Heard:
    """A page that was read: the page it is a copy of, what its word weighs (0..1), and its text."""

    origin: str
    weight: float
    text: str = ""


@dataclass(frozen=True)
class Voice:
    """A statement, by whom, and what it weighs."""

    origin: str
    weight: float
    said: str


def conflicts(
    ledger: Sequence[Evidence],
    asked: Collection[str] = (),
    heard: Mapping[str, Heard] | None = None,
) -> list[Conflict]:
    """The disagreements inside each topic, the heavier side of each first; one that two topics
    quote stands once. `heard` are the pages that were read, by URL.

    `asked` are the stems that a question for one fact asks about its subject: quotes that give
    another answer beside them disagree.
    """
    against: dict[tuple[str, Kind], dict[str, set[str]]] = {}
    known = {e.id: e for e in ledger if e.kind != "code"}
    texts = {id_: plain(e.quote) for id_, e in known.items()}
    for one, other in combinations(known.values(), 2):
        copy = one.origin == other.origin and one.content_hash == other.content_hash
        if one.topic != other.topic or copy:
            continue
        if kind := disagreement(texts[one.id], texts[other.id], asked, (one.title, other.title)):
            found = against.setdefault((one.topic, kind), {})
            found.setdefault(one.id, set()).add(other.id)
            found.setdefault(other.id, set()).add(one.id)
    made = (
        _conflict(topic, kind, [[known[id_] for id_ in side] for side in sides], heard or {}, asked)
        for (topic, kind), pairs in against.items()
        for sides in _sides(pairs, texts, kind)
    )
    once: dict[frozenset[str], Conflict] = {}
    for conflict in made:
        once.setdefault(frozenset(side.claim for side in conflict.sides), conflict)
    return list(once.values())


def _sides(
    pairs: Mapping[str, set[str]], texts: Mapping[str, str], kind: Kind
) -> list[list[list[str]]]:
    """Every connected set of disagreements as sides that agree in themselves and say the same."""
    found: list[list[list[str]]] = []
    left = dict(pairs)
    while left:
        together, edge = set[str](), {next(iter(left))}
        while edge:
            together |= edge
            edge = {other for id_ in edge for other in pairs[id_]} - together
        sides: list[list[str]] = []
        for id_ in (id_ for id_ in pairs if id_ in together):
            left.pop(id_)
            agreeing = (side for side in sides if not pairs[id_] & set(side))
            for side in agreeing:
                if _states_the_same(texts[id_], texts[side[0]], kind):
                    side.append(id_)
                    break
            else:
                sides.append([id_])
        found.append(sides)
    return found


def _states_the_same(one: str, other: str, kind: Kind) -> bool:
    code = spoken(one, other)
    return kind in ("negation", "value") or bool(numbers(one, code) & numbers(other, code))


def _conflict(
    topic: str,
    kind: Kind,
    sides: Sequence[Sequence[Evidence]],
    heard: Mapping[str, Heard],
    asked: Collection[str],
) -> Conflict:
    """The sides, heaviest first, their weights adding up to 1, each with its heaviest quote."""
    known = {url: page.weight for url, page in heard.items()}
    voices = [
        [Voice(e.origin, known.get(e.url, UNKNOWN), plain(e.quote)) for e in side] for side in sides
    ]
    claims = [max(own, key=lambda voice: voice.weight).said for own in voices]
    quoted = {e.url for side in sides for e in side}
    for url, page in heard.items():
        for side, said in _borne_out(claims, page.text, asked) if url not in quoted else ():
            voices[side].append(Voice(page.origin, page.weight, said))
    sums = [sum(_independent(own)) for own in voices]
    made = [
        Side(
            claim=" ".join(claim.split()),
            evidence_ids=tuple(e.id for e in own),
            weight=round(weight / (sum(sums) or 1.0), 3),
        )
        for claim, own, weight in zip(claims, sides, sums, strict=True)
    ]
    made.sort(key=lambda side: -side.weight)
    return Conflict(topic=topic, kind=kind or "value", sides=tuple(made))


def _borne_out(claims: Sequence[str], text: str, asked: Collection[str]) -> list[tuple[int, str]]:
    """Which claims a page bears out, by which sentence: it says one and disagrees with another."""
    telling = set[str]().union(*(numbers(claim) | names(claim) for claim in claims))
    low = text.lower().replace(",", "")
    if not any(sign in low for sign in telling):
        return []
    found = []
    for start, end in sentences(text):
        said = plain(text[start:end])
        against = [bool(disagreement(said, claim, asked)) for claim in claims]
        if any(against):
            found += [
                (n, said)
                for n, claim in enumerate(claims)
                if not against[n] and about_the_same(said, claim)
            ]
    return found


def _independent(voices: Sequence[Voice]) -> list[float]:
    """The weight of every independent voice; copies of pages and long sentences are one."""
    kept: list[Voice] = []
    for voice in sorted(voices, key=lambda voice: -voice.weight):
        if not any(
            voice.origin == other.origin or _repeats(voice.said, other.said) for other in kept
        ):
            kept.append(voice)
    return [voice.weight for voice in kept]


def _repeats(one: str, other: str) -> bool:
    least = min(len(one.split()), len(other.split()))
    return least >= REPEATED_WORDS and resemblance(sketch(one), sketch(other)) >= REPEATED
