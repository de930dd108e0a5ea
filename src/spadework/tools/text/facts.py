"""Extract checkable facts: numbers, dates, names, negations and relations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from spadework.deadline import today
from spadework.tools.text.language import DEFAULT, Language, language as language_named, spoken
from spadework.tools.text.terms import RUN, in_plain_signs, stemmer, terms

#: Matches a number with its sign. A hyphen after a figure, "%" or "°" ("10%-14%") is not a minus
#: sign.
_NUMBER = re.compile(r"(?:(?<![\w.,%°])[-+])?(?<![\w.,])\d++(?:[.,]\d++)*+(?=%|\b)")
_SEPARATED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
#: A number with spaces between groups of three digits, as written in languages with a decimal
#: comma.
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}+(?:[ \u00a0\u202f]\d{3}(?!\d))++")
_SWAPPED = str.maketrans(".,", ",.")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_YEAR, _CLOCK = re.compile(r"[12]\d{3}"), re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
_WORD = re.compile(r"[^\W_][\w'’.+#-]*")
#: Maps stems of a question's words to other stems that answers may use instead.
OTHER_WORDS = language_named(DEFAULT).other_words
stem = stemmer(language_named(DEFAULT).stemmer)


def stems(text: str, language: str = DEFAULT) -> set[str]:
    """Return the distinct stems of a text's content words."""
    return set(terms(text, language))


def nearest(text: str, others: Sequence[str]) -> list[int]:
    """Return the indices of `others` that share content words with `text`, most similar first."""
    code = spoken(text)
    said = stems(text, code)
    shared = [len(said & stems(other, code)) for other in others]
    return sorted((n for n, count in enumerate(shared) if count), key=lambda n: -shared[n])


def numbers(text: str, language: str = DEFAULT) -> set[str]:
    """Return a text's numbers, normalized ("1,000" as "1000"), and its months ("m5" for May). In a
    language with a decimal comma, "1,234" is read both as "1234" and as "1.234".
    """
    shown = text if text.isascii() else RUN.sub(" ", in_plain_signs(text))
    readings = [shown]
    if language_named(language).decimal == ",":
        joined = _SPACED.sub(lambda found: re.sub(r"\s", "", found[0]), shown)
        readings = [joined, joined.translate(_SWAPPED)]
    found = (match[0] for reading in readings for match in _NUMBER.finditer(reading))
    return {_plain_number(number) for number in found} | months(text, language)


def months(text: str, language: str = DEFAULT) -> set[str]:
    """Return the months that stand next to a number in the text, as "m1" to "m12"."""
    pattern, named = _dates(language)
    words = (match[match.lastindex or 0].lower() for match in pattern.finditer(text))
    return {f"m{named[word]}" for word in words if word in named}


def dates(text: str, language: str = DEFAULT) -> set[str]:
    """Return a text's years, times and weekdays, and any months next to a number."""
    told = (number for number in numbers(text, language) if _YEAR.fullmatch(number))
    return {*months(text, language), *told, *_CLOCK.findall(text), *weekdays(text, language)}


def weekdays(text: str, language: str = DEFAULT) -> set[str]:
    """Return the weekdays in a text, including capitalized short forms ("Fri")."""
    known = language_named(language)
    return {w for w in _LETTERS.findall(text) if known.is_weekday(w) or w in known.short_weekdays}


def spelled_numbers(text: str, language: str = DEFAULT) -> set[str]:
    """Return the numbers that a text spells out in words, converted to digits."""
    pattern, known = _number_words(language)
    return {known[word] for word in pattern.findall(text.lower()) if word in known}


@lru_cache(maxsize=16)
def _dates(code: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    known = language_named(code)
    named = {**language_named(DEFAULT).months, **known.months}
    if known.unspaced:
        words = "|".join(sorted(named, key=len, reverse=True))
        return re.compile(rf"(?<![\d一二三四五六七八九十])({words})"), named
    link = rf"(?:(?:{known.of or language_named(DEFAULT).of})\s+)?"
    ending = r"(?:[^\W\d_]{1,2}|\.)?" if known.ordinals else r"(?:[^\W\d_]{1,2})?"
    word = r"([^\W\d_]{3,12})"
    return re.compile(rf"(?<!\d)\d++{ending}\s++{link}{word}|\b{word}\.?,?\s++{link}\d"), named


@lru_cache(maxsize=16)
def _number_words(code: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    known = language_named(code)
    english = language_named(DEFAULT).numbers
    named = {word: n for word, n in english.items() if word not in known.stop} | dict(known.numbers)
    if not known.unspaced:
        return _LETTERS, named
    signs = "".join({sign for word in known.numbers for sign in word})
    others = [word for word in known.stop if len(word) > 1 and set(word) & set(signs)]
    return re.compile("|".join([*others, f"[{signs}]+", "[a-z]+"])), named


def names(sentence: str) -> set[str]:
    """Return the likely names in a sentence, in lower case. These are words that are capitalized
    mid-sentence, or that contain a digit or an inner capital.
    """
    found: set[str] = set()
    fresh = True
    for match in _WORD.finditer(sentence):
        word = re.sub(r"['’]s$", "", match.group().rstrip(".'’-"))
        inner = any(c.isupper() for c in word[1:])
        inner = inner or (word[:1].isalpha() and any(c.isdigit() for c in word))
        if word != "I" and len(word) > 1 and (inner or (word[:1].isupper() and not fresh)):
            found.add(word.lower())
        after = sentence[match.end() : match.end() + 2].strip()
        fresh = after in (*'.!?:“"',) or match.group().endswith(".")
    return found


def is_negated(text: str, language: str = DEFAULT) -> bool:
    """Return whether the text contains a negation."""
    return bool(language_named(language).negations.search(text))


def _plain_number(text: str) -> str:
    text = text.lstrip("+")
    if _SEPARATED.fullmatch(text.lstrip("-")):
        text = text.replace(",", "")
    if "." in text and text.replace(".", "", 1).lstrip("-").isdigit():
        text = text.rstrip("0").rstrip(".")
    return text


_NAME = r"[A-ZÀ-Þ][\w.+#’'-]*(?:[ ,]+(?:(?:and|of|de|van|von|the) )*[A-ZÀ-Þ0-9][\w.+#’'-]*)*"
_DEEDS = (
    "founded|invented|designed|written|developed|created|discovered|directed|painted|composed|built|led|owned|acquired|bought|published|"
    "maintained|produced|sponsored|ruled|proved"
)
_TRAITS = (
    "licen[cs]e|capital|currency|founder|inventor|author|director|owner|ceo|mayor|president|king|queen|maintainer|publisher|"
    "headquarters|default|language|successor|predecessor|winner|maker"
)
_DONE = re.compile(rf"\b(?P<what>{_DEEDS}) (?P<how>by|in) (?:the )?(?P<value>{_NAME})")
_IS = re.compile(
    rf"\b(?P<what>{_TRAITS})(?: of (?P<of>[^,.;:]{{1,50}}?))? (?:is|was|are|were) (?:now )?(?:the"
    rf" |an? )?(?P<value>{_NAME})"
)
_LICENSED = re.compile(
    r"\b(?:licen[cs]ed|released|published|available|distributed) under (?:the )?(?:terms of the"
    rf" )?(?P<value>{_NAME})"
)
#: Maximum characters of a sentence to examine. A relation's subject is sought in the last
#: SUBJECT_CHARS characters before the relation.
MOST_CHARS, SUBJECT_CHARS = 2_000, 300
#: Words that are too common in license names to distinguish licenses.
_GENERIC = frozenset({"license", "licence", "the", "and", "of"})


@dataclass(frozen=True)
class Relation:
    """A claim that a property of a subject (`what`, such as the license) has a certain value.
    `subject` holds word stems, and `value` holds words.
    """

    what: str
    subject: frozenset[str]
    value: frozenset[str]


@lru_cache(maxsize=2_000)
def relations(sentence: str) -> tuple[Relation, ...]:
    """Return the relations stated in a plain-text sentence."""
    sentence, found = sentence[:MOST_CHARS], []
    for match in _LICENSED.finditer(sentence):
        found.append(_make_relation("licens", sentence[: match.start()], match["value"]))
    for match in _IS.finditer(sentence):
        what = "licens" if match["what"].startswith("licen") else stem(match["what"])
        before = f"{sentence[: match.start()]} {match['of'] or ''}"
        found.append(_make_relation(what, before, match["value"]))
    for match in _DONE.finditer(sentence):
        what = f"{stem(match['what'])} {match['how']}"
        found.append(_make_relation(what, sentence[: match.start()], match["value"]))
    return tuple(relation for relation in found if relation.value)


def differ(one: str, other: str, asked: frozenset[str] = frozenset()) -> bool:
    """Return whether two sentences state different values for the same property of one subject. If
    only one names its subject, the property must be in `asked`.
    """
    return any(
        a.what == b.what and not a.value & b.value and _same_subject(a, b, asked)
        for a in relations(one)
        for b in relations(other)
    )


def _same_subject(a: Relation, b: Relation, asked: frozenset[str]) -> bool:
    if a.subject and b.subject:
        return 2 * len(a.subject & b.subject) >= min(len(a.subject), len(b.subject))
    return a.subject == b.subject or a.what.split()[0] in asked


def _make_relation(what: str, before: str, value: str) -> Relation:
    words = frozenset(word.strip(".,'’-").lower() for word in re.split(r"[ ,]+", value))
    return Relation(what, frozenset(stems(before[-SUBJECT_CHARS:])), words - _GENERIC - {""})


_FORMATS = (
    "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d", "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S", "%Y.%m.%d", "%Y %b %d", "%Y %b", "%Y-%m", "%Y",
)  # fmt: skip
_OFFSET = re.compile(r"(?<=\d)\s+([+-]\d\d:?\d\d)$")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_AGO = re.compile(r"(\d{1,3}|an?) (minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}


def moment(written: Any, *, now: datetime | None = None) -> datetime | None:
    """Parse a time into UTC: ISO 8601, RFC 5322, or text such as "3 March 2026" or "2 days ago".
    A time without a zone is taken as UTC. "ago" counts from `now`, by default `today()`. Return
    None for other text, and for years before 1900 or after next year.
    """
    if not isinstance(written, str):
        return None
    text = _OFFSET.sub(r"\1", written.strip()[:60])
    found = _ago(text, now) or _written(text)
    if found is None:
        return None
    try:
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None
    return found if 1900 <= found.year <= today().year + 1 else None


def _ago(text: str, now: datetime | None) -> datetime | None:
    match = _AGO.fullmatch(text)
    if not match:
        return None
    count = int(match[1]) if match[1].isdecimal() else 1
    return (now or today()) - timedelta(days=count * _DAYS[match[2].lower()])


def _written(text: str) -> datetime | None:
    plain = _ORDINAL.sub("", text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    with suppress(ValueError, IndexError, TypeError, OverflowError):
        if ":" in text:
            return parsedate_to_datetime(text)
    for form in _FORMATS:
        with suppress(ValueError):
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
    return None


#: A scale word whose power of ten exceeds this ends a group of number words. In "two hundred
#: thousand and five", "thousand" ends a group, but "hundred" does not.
HUNDRED = 2
NEAR = 0.05

#: Units by dimension, with exact factors for conversion to the dimension's base unit (NIST Special
#: Publication 811, appendix B).
_TABLE = """
length: 1 m metre metres meter meters; 1e3 km kilometre kilometres kilometer kilometers
length: 1e-2 cm centimetre centimetres centimeter centimeters; 1609.344 mi mile miles
length: 1e-3 mm millimetre millimetres millimeter millimeters; 0.3048 ft foot feet
length: 0.9144 yd yard yards; 0.0254 inch inches
mass: 1 kg kilogram kilograms; 1e-3 g gram grams; 1e3 t tonne tonnes
mass: 0.45359237 lb lbs pound pounds; 0.028349523125 oz ounce ounces
volume: 1 l litre litres liter liters; 1e-3 ml millilitre millilitres milliliter milliliters
volume: 3.785411784 gal gallon gallons
area: 1 m² sqm; 1e6 km²; 0.09290304 ft²; 2589988.110336 mi²; 1e4 ha hectare hectares
area: 4046.8564224 acre acres
time: 1 s sec second seconds; 1e-3 ms millisecond milliseconds; 60 min minute minutes
time: 3600 h hr hour hours; 86400 day days; 604800 week weeks
speed: 1 km/h kmh kph; 1.609344 mph
data: 1 byte bytes; 1e3 kb kilobyte kilobytes; 1e6 mb megabyte megabytes; 1e9 gb gigabyte gigabytes
data: 1e12 tb terabyte terabytes; 1024 kib; 1048576 mib; 1073741824 gib
pressure: 1 bar; 1e-2 kpa kilopascal kilopascals; 1e-3 hpa mbar; 0.06894757 psi
energy: 1 kwh kilowatt-hours; 1e3 mwh megawatt-hours; 1e6 gwh gigawatt-hours
energy: 1e9 twh terawatt-hours
power: 1 w watt watts; 1e3 kw kilowatt kilowatts; 1e6 mw megawatt megawatts
power: 1e9 gw gigawatt gigawatts
celsius: 1 °c celsius
fahrenheit: 1 °f fahrenheit
"""
_UNITS = {
    name: (dimension, float(factor))
    for dimension, _, units in (row.partition(": ") for row in _TABLE.strip().split("\n"))
    for factor, *names in map(str.split, units.split("; "))
    for name in names
}
_FIGURE = r"(?:(?<![\w.,%°])[-−])?(?<![\w.,])\d++(?:[.,]\d++)*+"
_UNIT = r"[^\W\d_]+(?:/h|²|-hours)?|°[CF]"
#: Letters that may directly follow a figure: signs for "times", as in "1.5x", and letters for
#: powers of ten, as in "175B".
_TIMES, _POWERS = ("x", "X"), {"K": 3, "M": 6, "B": 9, "T": 12}
#: Maps names of units that can follow "square" to their symbols.
_SYMBOLS = {
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("foot", "feet"), "ft"),
}
_SQUARE, _DEGREES = ("square",), ("degree", "degrees")


class Quantity(NamedTuple):
    """A figure in the base unit of its dimension, with its number of significant digits."""

    value: float
    digits: int
    dimension: str = ""


class Figure(NamedTuple):
    """A figure as written in a text, with its offsets and its possible readings as quantities."""

    text: str
    readings: tuple[Quantity, ...]
    start: int = 0
    end: int = 0


def figures(text: str, language: str = DEFAULT) -> tuple[Figure, ...]:
    """Return the figures in a text, in digits or words, except digits within words ("IPv6")."""
    known = language_named(language)
    found = []
    for match in _pattern(language).finditer(text):
        written = match["figure"] or match["words"]
        letters = match["first"] or ""
        after = (letters.lower(), (match["second"] or "").lower())
        joined = text[match.end("figure") : match.end("figure") + 1].isalpha()
        known_letters = after[0] in _UNITS or after[0] in known.scales
        if match["figure"] and joined and not (known_letters or letters in (*_TIMES, *_POWERS)):
            continue
        made = _readings(written, after, language, in_words=not match["figure"])
        if joined and letters in _POWERS:
            factor = 10.0 ** _POWERS[letters]
            made += tuple(each._replace(value=each.value * factor) for each in made[:1])
        start, end = match.span("figure" if match["figure"] else "words")
        found.append(Figure(written, made, start, end))
    return tuple(found)


def is_unit(word: str) -> bool:
    """Return whether a lower-case word is a unit."""
    return word in _UNITS


def borne_out(stated: Figure, sources: Iterable[Figure]) -> bool:
    """Return whether a source figure equals `stated`, allowing for rounding and unit conversion."""
    return any(
        stated.text == source.text
        or any(is_same(own, other) for own, other in product(stated.readings, source.readings))
        for source in sources
    )


@lru_cache(maxsize=4_096)
def _readings(
    written: str, after: tuple[str, ...], language: str, *, in_words: bool
) -> tuple[Quantity, ...]:
    known = language_named(language)
    values = {_in_words(written, known)} if in_words else _values(written, known)
    return tuple(one for value in values for one in _make_quantity(*value, after, known))


@lru_cache(maxsize=16)
def _pattern(code: str) -> re.Pattern[str]:
    known = language_named(code)
    every = sorted([*known.numbers, *known.scales], key=len)[::-1]
    words = "" if known.unspaced else "|".join(every)
    first = "|".join(sorted(known.numbers, key=len, reverse=True)) if words else ""
    spaced = r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|" if known.decimal == "," else ""
    run = rf"(?i:\b(?=[^\W\d_])(?:{first})(?:[ -](?:{words}))*\b)" if words else "(?!)"
    after = rf"(?:[ \u00a0\u202f-]?(?P<first>{_UNIT}))?(?:[ \u00a0\u202f](?P<second>{_UNIT}))?"
    return re.compile(rf"(?:(?P<figure>{spaced}{_FIGURE})|(?P<words>{run})){after}")


def _in_words(words: str, known: Language) -> tuple[float, int]:
    whole = part = 0.0
    for word in re.split(r"[ -]", words.lower()):
        if word in known.scales:
            size = 10.0 ** known.scales[word]
            part = max(part, 1.0) * size
            if known.scales[word] > HUNDRED:
                whole, part = whole + part, 0.0
        else:
            part += float(known.numbers.get(word, 0))
    return whole + part, _digits(f"{whole + part:.0f}")


def _values(figure: str, known: Language) -> set[tuple[float, int]]:
    figure = re.sub(r"\s", "", figure)
    readings = {figure.replace(",", "")}
    if known.decimal == "," or re.fullmatch(r"[-−]?\d+,\d{1,2}", figure):
        readings.add(figure.replace(".", "").replace(",", "."))
    return {
        (float(reading.replace("−", "-")), _digits(reading))
        for reading in readings
        if reading.count(".") <= 1
    }


def _digits(figure: str) -> int:
    plain = figure.lstrip("-−0").replace(".", "")
    return max(1, len(plain if "." in figure else plain.rstrip("0")))


def _make_quantity(
    value: float, digits: int, after: tuple[str, ...], known: Language
) -> Iterator[Quantity]:
    first, second = after
    power = known.scales.get(first)
    name = second if power is not None or first in _DEGREES else first
    unit = _UNITS.get(f"{_SYMBOLS.get(second, second)}²" if first in _SQUARE else name)
    scaled = value * 10.0 ** (power or 0)
    yield Quantity(scaled, digits)
    if unit and unit[0] == "fahrenheit":
        yield Quantity((scaled - 32) / 1.8, digits, "celsius")
    elif unit:
        yield Quantity(scaled * unit[1], digits, unit[0])


def is_same(stated: Quantity, source: Quantity) -> bool:
    """Return whether `stated` equals `source`, allowing for rounding and unit conversion."""
    if stated.dimension != source.dimension:
        return False
    if math.isclose(stated.value, source.value, rel_tol=1e-9):
        return True
    apart = abs(stated.value - source.value)
    converted = bool(stated.dimension)
    finer = source.digits > stated.digits or converted
    return finer and apart <= NEAR * abs(source.value) and apart <= _half_a_place(stated)


def _half_a_place(stated: Quantity) -> float:
    size = math.floor(math.log10(abs(stated.value))) if stated.value else 0
    return float(0.5 * 10.0 ** (size - stated.digits + 1))
