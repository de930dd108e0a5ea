"""Quantities and dates: figures with scale and unit, and times in UTC."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from spadework.clock import today
from spadework.tools.text.language import DEFAULT, Language
from spadework.tools.text.language import language as language_named

_FORMATS = (
    "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d", "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S", "%Y.%m.%d", "%Y %b %d", "%Y %b", "%Y-%m", "%Y",
)  # fmt: skip
_OFFSET = re.compile(r"(?<=\d)\s+([+-]\d\d:?\d\d)$")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_AGO = re.compile(r"(\d{1,3}|an?) (minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}


def moment(written: Any, *, now: datetime | None = None) -> datetime | None:
    """Return the time that a text names, in UTC: ISO 8601, RFC 5322, "3 March 2026", "2 days ago".

    The default zone is UTC. None for other text, and for a year before 1900 or after the next one.
    "ago" counts from `now`.
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


#: Largest power of ten whose scale word multiplies what precedes it ("two hundred thousand").
HUNDRED = 2
#: Maximum relative difference of a rounded figure.
NEAR = 0.05

#: Dimensions with their units: the factor to the first unit, and the names. Exact by definition
#: (NIST Special Publication 811, appendix B).
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
#: (dimension, factor) by unit name.
_UNITS = {
    name: (dimension, float(factor))
    for dimension, _, units in (row.partition(": ") for row in _TABLE.strip().split("\n"))
    for factor, *names in map(str.split, units.split("; "))
    for name in names
}
_FIGURE = r"(?<![\w.,])[-−]?\d++(?:[.,]\d++)*+"
_WORD = r"[^\W\d_]+(?:/h|²|-hours)?|°[CF]"
#: Words that qualify a unit: "square miles", "degrees Celsius".
_SYMBOLS = {
    **dict.fromkeys(("mile", "miles"), "mi"),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("foot", "feet"), "ft"),
}
_SQUARE, _DEGREES = ("square",), ("degree", "degrees")


class Quantity(NamedTuple):
    """A figure in its dimension's first unit ("" without), and its significant digits."""

    value: float
    digits: int
    dimension: str = ""


class Figure(NamedTuple):
    """A figure as written, the quantities it may be (with and without what follows and, with a
    decimal comma, read both ways), and its offsets.
    """

    text: str
    readings: tuple[Quantity, ...]
    start: int = 0
    end: int = 0


def figures(text: str, language: str = DEFAULT) -> tuple[Figure, ...]:
    """Return a text's figures in order, in digits and words; none within a word ("3rd", "IPv6")."""
    known = language_named(language)
    found = []
    for match in _pattern(language).finditer(text):
        written = match["figure"] or match["words"]
        after = tuple((match[name] or "").lower() for name in ("first", "second"))
        joined = text[match.end("figure") : match.end("figure") + 1].isalpha()
        if match["figure"] and joined and not (after[0] in _UNITS or after[0] in known.scales):
            continue
        made = _readings(written, after, language, in_words=not match["figure"])
        start, end = match.span("figure" if match["figure"] else "words")
        found.append(Figure(written, made, start, end))
    return tuple(found)


def is_unit(word: str) -> bool:
    """Return whether a lower-case word is a unit."""
    return word in _UNITS


def borne_out(stated: Figure, sources: Iterable[Figure]) -> bool:
    """Return whether a figure matches one of `sources`: the same, converted, or rounded."""
    return any(
        stated.text == source.text
        or any(is_same(own, other) for own, other in product(stated.readings, source.readings))
        for source in sources
    )


@lru_cache(maxsize=4_096)
def _readings(
    written: str, after: tuple[str, ...], language: str, *, in_words: bool
) -> tuple[Quantity, ...]:
    """Return the quantities that a figure may be, with the two words after it."""
    known = language_named(language)
    values = {_in_words(written, known)} if in_words else _values(written, known)
    return tuple(one for value in values for one in _make_quantity(*value, after, known))


@lru_cache(maxsize=16)
def _pattern(code: str) -> re.Pattern[str]:
    """Return a pattern of a figure or number words ("five hundred", "twenty-one"), and the two
    words after it.
    """
    known = language_named(code)
    every = sorted([*known.numbers, *known.scales], key=len)[::-1]
    words = "" if known.unspaced else "|".join(every)
    first = "|".join(sorted(known.numbers, key=len, reverse=True)) if words else ""
    # Thousands are separated by spaces where the comma is decimal.
    spaced = r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|" if known.decimal == "," else ""
    run = rf"(?i:\b(?:{first})(?:[ -](?:{words}))*\b)" if words else "(?!)"
    after = rf"(?:[ \u00a0\u202f-]?(?P<first>{_WORD}))?(?:[ \u00a0\u202f](?P<second>{_WORD}))?"
    return re.compile(rf"(?:(?P<figure>{spaced}{_FIGURE})|(?P<words>{run})){after}")


def _in_words(words: str, known: Language) -> tuple[float, int]:
    """Return the value of number words, with its significant digits."""
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
    """Return the possible values of a figure, with significant digits."""
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
    """Yield the figure with its scale and unit, and without the unit."""
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
    """Return whether one quantity is another: the same, converted, or rounded to fewer digits."""
    if stated.dimension != source.dimension:
        return False
    if math.isclose(stated.value, source.value, rel_tol=1e-9):
        return True
    apart = abs(stated.value - source.value)
    converted = bool(stated.dimension)
    finer = source.digits > stated.digits or converted
    return finer and apart <= NEAR * abs(source.value) and apart <= _half_a_place(stated)


def _half_a_place(stated: Quantity) -> float:
    """Return half of the last place of a figure."""
    size = math.floor(math.log10(abs(stated.value))) if stated.value else 0
    return float(0.5 * 10.0 ** (size - stated.digits + 1))
