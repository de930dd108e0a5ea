"""Prepare sentences for comparison: extract names, dates, and figures with units. A figure in a
name ("season 9", "PEP 440") is not a value. NEAR and DATED were chosen with
`benchmarks/disagreements.py`.

Also find copies and excerpts, even if numbers were changed or text was reordered.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from spadework.deadline import Late
from spadework.tools.text.facts import Figure, Quantity, figures, is_negated, stems
from spadework.tools.text.language import DEFAULT, language
from spadework.tools.text.sentences import sentences

#: This many words on each side of a figure are assumed to say what the figure measures.
NEAR = 2
#: In scripts without spaces, this many characters count as one word.
SIGNS = 4
#: Maximum number of words between a figure and its date. A date at the start of a sentence applies
#: to all figures in the sentence.
DATED = 4
MOST_CHARS, MOST_WORDS = 1_000, 120
#: Maximum number of figures and dates kept per sentence. A sentence with more is probably a list.
MOST_VALUES = 8
# Placeholders for dates and figures in a statement's `frame`.
DATE, FIGURE = "@", "#"
#: Prefix that marks stop words in a statement's `frame`.
STOP = "·"

_TOKEN = re.compile(r"\d[\d.,]*\d|\d|[^\W\d_]+|[$€£¥%]")
_NOTE = re.compile(r"\[\d{1,3}\]")
_ENDED = (*'.!?。！？"”',)
_UNITS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "%": "percent"}
_MORE = re.compile(r"\b(?:over|(?<!no )more than|at least|above|exceed\w*)\W+$", re.IGNORECASE)
_LESS = re.compile(r"\b(?:under|(?:less|no more) than|at most|below|up to)\W+$", re.IGNORECASE)
_UNTIL = re.compile(r" ?(?:-|–|to|bis|à|a) ?$")
#: Stems to ignore when statements are compared, so that "planned for 3 May" and "moved to 5 May"
#: differ only in the date.
_SCHEDULED = frozenset(stems("planned scheduled expected due moved postponed delayed rescheduled"))


class Value(NamedTuple):
    """A figure or date, with its unit and nearby words. `ranges` are a figure's possible readings,
    as (low, high). `bound` is "more" ("at least 5"), "less" ("up to 5") or "". `date` is (year,
    month, day), with 0 for a missing part.
    """

    text: str
    near: frozenset[str]
    unit: str
    ranges: tuple[tuple[Quantity, Quantity], ...] = ()
    bound: str = ""
    date: tuple[int, int, int] = (0, 0, 0)
    #: True if a date in the statement might belong to the figure.
    dated: bool = False


@dataclass(frozen=True)
class Statement:
    """A sentence prepared for comparison. `frame` holds its words, with placeholders for dates and
    figures. `labels` are names with a number, such as "section 4.2".
    """

    text: str
    code: str
    words: frozenset[str]
    frame: tuple[str, ...]
    names: frozenset[str]
    labels: frozenset[str]
    values: tuple[Value, ...]
    denied: bool
    is_sentence: bool


@lru_cache(maxsize=8_192)
def statements(text: str, code: str) -> tuple[Statement, ...]:
    """Split a quote into sentences prepared for comparison."""
    text = _NOTE.sub("", text)
    parts = [text[start:end] for start, end in sentences(text, code)] or [text]
    return tuple(_Reader(part[:MOST_CHARS], code).read() for part in parts)


class _Token(NamedTuple):
    start: int
    end: int
    text: str
    stems: frozenset[str]


class _Reader:
    def __init__(self, text: str, code: str) -> None:
        self.text, self.code, self.known = text, code, language(code)
        self.tokens = [
            _Token(m.start(), m.end(), m[0], frozenset(stems(m[0], code)))
            for m in islice(_TOKEN.finditer(text), MOST_WORDS)
        ]
        self.telling = [token for token in self.tokens if token.stems]
        self.dates = list(_dates(text, code))
        within = [(start, end) for start, end, _ in self.dates]
        self.figures = [one for one in _figures(text, code) if not _is_in(one.start, within)]
        self.spans = within + [(one.start, one.end) for one in self.figures]

    def read(self) -> Statement:
        labels = {one.start: name for one in self.figures if (name := self._label(one))}
        values = [one for one in self.figures if one.start not in labels and not self._is_part(one)]
        told = [
            token
            for token in self.tokens
            if token.text not in _UNITS and not _is_in(token.start, self.spans)
        ]
        small = {word for token in told if token.text[0].islower() for word in token.stems}
        named = {word for token in told[1:] if token.text[0].isupper() for word in token.stems}
        return Statement(
            text=self.text,
            code=self.code,
            words=content_stems(self.text, self.code),
            frame=tuple(self._frame(told)),
            names=frozenset() if self.known.nouns_in_capitals else frozenset(named - small),
            labels=frozenset(labels.values()),
            values=tuple(dict.fromkeys([*self._measures(values), *self._moments()]))[:MOST_VALUES],
            denied=is_negated(self.text, self.code),
            is_sentence=self._is_sentence(),
        )

    def _is_sentence(self) -> bool:
        words = (token.text.lower() for token in self.tokens)
        ended = self.text.rstrip().endswith(_ENDED)
        return self.known.unspaced or (ended and not self.known.stop.isdisjoint(words))

    def _label(self, figure: Figure) -> str:
        """Return the name containing the figure ("section 4.2"), or "" if the figure is a value."""
        before = next((t for t in reversed(self.telling) if t.end == figure.start - 1), None)
        measured = any(reading.dimension for reading in figure.readings)
        signs = self.text[figure.start - 1 : figure.start] + self.text[figure.end : figure.end + 1]
        if before is None or measured or not _UNITS.keys().isdisjoint(signs) or "," in figure.text:
            return ""
        named = before.text[0].isupper() and not self.known.nouns_in_capitals
        counted = any(t.start == figure.end + 1 for t in self.telling)
        return "" if counted and not named else f"{before.text.lower()} {figure.text}"

    def _is_part(self, figure: Figure) -> bool:
        """Return whether the figure is part of a score or time ("7:40")."""
        before, after = self.text[: figure.start].rstrip(), self.text[figure.end :].lstrip()
        clock = after[:1] == ":" and after[1:2].isdigit()
        return before.endswith(("/", ":")) or after[:1] == "/" or clock

    def _measures(self, found: Sequence[Figure]) -> Iterator[Value]:
        rest = list(reversed(found))
        while rest:
            first = last = rest.pop()
            if rest and _UNTIL.fullmatch(self.text[first.end : rest[-1].start]):
                last = rest.pop()
            before = self.text[max(0, first.start - 20) : first.start]
            unit = self._unit(last)
            yield Value(
                self._as_written(first.start, last.end),
                self._near(first.start, last.end),
                unit,
                _ranges(first, last),
                "more" if _MORE.search(before) else "less" if _LESS.search(before) else "",
                dated=self._is_dated(first),
            )

    def _as_written(self, start: int, end: int) -> str:
        before = self.text[max(0, start - 1) : start] in _UNITS
        return self.text[start - before : end + (self.text[end : end + 1] in _UNITS)]

    def _unit(self, figure: Figure) -> str:
        dimension = next((r.dimension for r in figure.readings if r.dimension), "")
        sign = _UNITS.get(self.text[: figure.start].rstrip()[-1:], "")
        if dimension or sign or self.known.unspaced:
            return dimension or sign or self.text[figure.end : figure.end + 1]
        at = figure.end
        for token in self.tokens:
            if token.start < at:
                continue
            if self.text[at : token.start].strip("-\u00a0\u202f "):
                break
            if token.text.lower() not in self.known.scales:
                return _UNITS.get(token.text) or min(token.stems, default="")
            at = token.end
        return ""

    def _moments(self) -> Iterator[Value]:
        for start, end, date in self.dates:
            near = self._near(start, end)
            yield Value(self.text[start:end], near, DATE, date=date)

    def _near(self, start: int, end: int) -> frozenset[str]:
        if self.known.unspaced:
            reach = SIGNS * NEAR
            around = self.text[max(0, start - reach) : start], self.text[end : end + reach]
            return frozenset().union(*(content_stems(part, self.code) for part in around))
        words = [t for t in self.telling if not _is_in(t.start, self.spans)]
        before = [t for t in words if t.start < start][-NEAR:]
        after = [t for t in words if t.start >= end][:NEAR]
        return frozenset(word for token in (*before, *after) for word in token.stems)

    def _is_dated(self, figure: Figure) -> bool:
        if not self.dates:
            return False
        first, place = self.telling[0].start, self._place(figure.start)
        return any(
            start <= first or abs(self._place(start) - place) <= DATED for start, _, _ in self.dates
        )

    def _place(self, at: int) -> int:
        return bisect_left(self.telling, at, key=lambda token: token.start)

    def _frame(self, told: Sequence[_Token]) -> Iterator[str]:
        kinds = [DATE] * len(self.dates) + [FIGURE] * len(self.figures)
        signs = [(start, kind) for (start, _), kind in zip(self.spans, kinds, strict=True)]
        words = [(t.start, min(t.stems) if t.stems else STOP + t.text.lower()) for t in told]
        return (word for _, word in sorted([*signs, *words]))


def _ranges(first: Figure, last: Figure) -> tuple[tuple[Quantity, Quantity], ...]:
    ends = [one for one in last.readings if one.dimension] or last.readings
    # A version such as 1.2.3 is a figure but not a number, so it cannot form a range.
    if first is last or not (first.readings and last.readings and last.readings[0].value):
        return tuple((one, one) for one in ends)
    share = first.readings[0].value / last.readings[0].value
    return tuple((one._replace(value=one.value * share), one) for one in ends)


def content_stems(text: str, code: str) -> frozenset[str]:
    """Return the stems of content words, excluding figures, months, and words such as "planned"."""
    return frozenset(
        word
        for word in stems(text, code)
        if not any(char.isdigit() for char in word)
        and word not in _month_stems(code)
        and word not in _SCHEDULED
    )


@lru_cache(maxsize=16)
def _month_stems(code: str) -> frozenset[str]:
    return frozenset(stems(" ".join(language(code).months), code))


def _is_in(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _figures(text: str, code: str) -> list[Figure]:
    if not language(code).unspaced:
        return list(figures(text, code))
    joined = re.sub(r"(?<=\d)(?=[^\W\d_])", " ", text)
    return [
        one._replace(start=at, end=at + len(one.text))
        for one in figures(joined, code)
        if (at := text.find(one.text)) >= 0
    ]


def _dates(text: str, code: str) -> Iterator[tuple[int, int, tuple[int, int, int]]]:
    pattern, months = _date_pattern(code)
    for match in pattern.finditer(text):
        year, month, day = (
            next(
                (said for name, said in match.groupdict().items() if said and name[0] == part), "0"
            )
            for part in "ymd"
        )
        yield *match.span(), (int(year), int(months.get(month.lower(), month)), int(day))


@lru_cache(maxsize=16)
def _date_pattern(code: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern for dates, and month numbers by name. English "may" is not the month."""
    known = language(code)
    months = {**language(DEFAULT).months, **known.months}
    names = [name if name in known.months and code != DEFAULT else name.title() for name in months]
    month = "|".join(sorted({*names, *map(str.title, names)}, key=len, reverse=True))
    link = rf"(?:{known.of or language(DEFAULT).of} )?"
    end = r"(?:st|nd|rd|th|er|\.)?"
    return re.compile(
        r"(?<![a-zA-Z\d.,])(?:"
        r"(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)"
        rf"|(?P<d2>\d{{1,2}}){end} {link}(?P<m2>{month})\b\.?(?:,? {link}(?P<y2>\d{{4}}))?"
        rf"|(?P<m3>{month})\.? (?P<d3>\d{{1,2}}){end}(?!\d)(?:,? (?P<y3>\d{{4}}))?"
        rf"|(?P<m4>{month})\.?,? {link}(?P<y4>\d{{4}})"
        r"|(?P<y5>\d{4})年(?:(?P<m5>\d{1,2})月(?:(?P<d5>\d{1,2})日)?)?"
        r"|(?P<y6>(?:1\d|20)\d\d))(?![\d%]|[.,]\d)"
    ), months


#: Number of consecutive words in a shingle.
SHINGLE = 5
#: Minimum fraction of shingles that two copies share.
COPY = 0.6
#: A text is an excerpt if another text contains at least the fraction EXCERPT of its shingles.
#: Texts with fewer than EXCERPT_LEAST shingles are not compared.
EXCERPT, EXCERPT_LEAST = 0.8, 20
#: Texts of at least SCRAMBLED_WORDS words are reordered copies if the Jaccard similarity of their
#: words is at least SCRAMBLED.
SCRAMBLED_WORDS, SCRAMBLED = 30, 0.85
#: Number of hashes kept per text. The smallest hashes are kept, because they form an unbiased
#: sample (Broder 1997).
SAMPLE = 400

Sketch = frozenset[int]
_WORD, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")


def sketch(text: str) -> Sketch:
    """Return the smallest hashes of a text's shingles, in which all numbers count as equal."""
    words = _words(text)
    return _sample(
        " ".join(words[n : n + SHINGLE]) for n in range(max(1, len(words) - SHINGLE + 1))
    )


def bag(text: str) -> Sketch:
    """Return the smallest hashes of a text's words, or none for short texts."""
    words = _words(text)
    if len(words) < SCRAMBLED_WORDS:
        return frozenset()
    times = Counter(words).items()
    return _sample(f"{word} {n}" for word, count in times for n in range(1, count + 1))


def resemblance(a: Sketch, b: Sketch, sample: int = SAMPLE) -> float:
    """Estimate two texts' Jaccard similarity (0..1) from their sketches."""
    smallest = set(sorted(a | b)[:sample])
    return len(smallest & a & b) / len(smallest) if smallest else 1.0


def containment(part: Sketch, whole: Sketch) -> float:
    """Estimate the fraction of `part` that `whole` contains (0 if there are too few shingles)."""
    last = max(whole, default=0)
    seen = {shingle for shingle in part if len(whole) < SAMPLE or shingle <= last}
    return len(seen & whole) / len(seen) if len(seen) >= EXCERPT_LEAST else 0.0


def group_near_duplicates(texts: Mapping[str, str], late: Late = lambda: False) -> dict[str, str]:
    """Map the key of each copy or excerpt to the key of the first text that it repeats, and every
    other key to itself. Comparing stops once `late` returns True.
    """
    found = {key: key for key in texts}
    firsts: list[tuple[str, Sketch, Sketch]] = []
    # Index originals by hash, so that only texts with enough in common are compared.
    shingles, words = (defaultdict[int, list[int]](list) for _ in "ab")
    for key, text in texts.items():
        if late():
            break
        own, bagged = sketch(text), bag(text)
        shared, same = _count_shared(own, shingles), _count_shared(bagged, words)
        for n in sorted(shared.keys() | same.keys()):
            first, other, others = firsts[n]
            if _copies(own, other, shared[n]) or _scrambles(bagged, others, same[n]):
                found[key] = first
                break
        else:
            for held, own_hashes in ((shingles, own), (words, bagged)):
                for each in own_hashes:
                    held[each].append(len(firsts))
            firsts.append((key, own, bagged))
    return found


def _count_shared(own: Sketch, held: Mapping[int, Sequence[int]]) -> Counter[int]:
    return Counter(chain.from_iterable(held.get(each, ()) for each in own))


def _copies(a: Sketch, b: Sketch, shared: int) -> bool:
    if shared >= COPY * max(len(a), len(b)) and resemblance(a, b) >= COPY:
        return True
    enough = shared >= EXCERPT * EXCERPT_LEAST
    return enough and max(containment(a, b), containment(b, a)) >= EXCERPT


def _scrambles(words: Sketch, others: Sketch, shared: int) -> bool:
    enough = shared >= SCRAMBLED * max(1, len(words), len(others))
    return enough and resemblance(words, others) >= SCRAMBLED


def _words(text: str) -> list[str]:
    return _WORD.findall(_DIGITS.sub("0", text.lower()))


def _sample(parts: Iterable[str]) -> Sketch:
    digests = {hashlib.blake2b(part.encode(), digest_size=8).digest() for part in parts}
    return frozenset(int.from_bytes(digest, "big") for digest in sorted(digests)[:SAMPLE])
