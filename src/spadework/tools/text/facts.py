"""Facts that code can check in a sentence: numbers, dates, names, negations, and named
relations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spadework.tools.text.language import DEFAULT, spoken
from spadework.tools.text.language import language as language_named
from spadework.tools.text.terms import RUN, in_plain_signs, stemmer, terms

_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d++(?:[.,]\d++)*+(?=%|\b)")
_SEPARATED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
#: Space-separated thousands, in languages with a decimal comma.
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}+(?:[ \u00a0\u202f]\d{3}(?!\d))++")
_SWAPPED = str.maketrans(".,", ",.")
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_YEAR, _CLOCK = re.compile(r"[12]\d{3}"), re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?!\d)")
_WORD = re.compile(r"[^\W_][\w'’.+#-]*")
#: Words of answers that differ from the question's, as stems.
OTHER_WORDS = language_named(DEFAULT).other_words
#: Returns the English stem of a lower-case word.
stem = stemmer(language_named(DEFAULT).stemmer)


def stems(text: str, language: str = DEFAULT) -> set[str]:
    """Return the distinct stems of a text's content words."""
    return set(terms(text, language))


def nearest(text: str, others: Sequence[str]) -> list[int]:
    """Return the indexes of the texts that share a content word with `text`, most shared words
    first.
    """
    code = spoken(text)
    said = stems(text, code)
    shared = [len(said & stems(other, code)) for other in others]
    return sorted((n for n, count in enumerate(shared) if count), key=lambda n: -shared[n])


def numbers(text: str, language: str = DEFAULT) -> set[str]:
    """Return the numbers of a text, normalized: "1,000" as "1000", and months as "m5". With a
    decimal comma a number is read both ways.
    """
    shown = text if text.isascii() else RUN.sub(" ", in_plain_signs(text))
    readings = [shown]
    if language_named(language).decimal == ",":
        joined = _SPACED.sub(lambda found: re.sub(r"\s", "", found[0]), shown)
        readings = [joined, joined.translate(_SWAPPED)]
    found = (match[0] for reading in readings for match in _NUMBER.finditer(reading))
    return {_plain_number(number) for number in found} | months(text, language)


def months(text: str, language: str = DEFAULT) -> set[str]:
    """Return the months named next to a number, as "m1" to "m12" ("may" alone is a verb)."""
    pattern, named = _dates(language)
    words = (match[match.lastindex or 0].lower() for match in pattern.finditer(text))
    return {f"m{named[word]}" for word in words if word in named}


def dates(text: str, language: str = DEFAULT) -> set[str]:
    """Return the dates in a text: months next to a number, years, times of day, days of the
    week.
    """
    told = (number for number in numbers(text, language) if _YEAR.fullmatch(number))
    days = filter(language_named(language).is_weekday, _LETTERS.findall(text.casefold()))
    return {*months(text, language), *told, *_CLOCK.findall(text), *days}


def spelled_numbers(text: str, language: str = DEFAULT) -> set[str]:
    """Return the numbers written as words in a text, as digits."""
    pattern, known = _number_words(language)
    return {known[word] for word in pattern.findall(text.lower()) if word in known}


@lru_cache(maxsize=16)
def _dates(code: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern of words that may name a month, and the months by name."""
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
    """Return a pattern of number words, and their values; English ones unless they mean something
    else.
    """
    known = language_named(code)
    english = language_named(DEFAULT).numbers
    named = {word: n for word, n in english.items() if word not in known.stop} | dict(known.numbers)
    if not known.unspaced:
        return _LETTERS, named
    signs = "".join({sign for word in known.numbers for sign in word})
    others = [word for word in known.stop if len(word) > 1 and set(word) & set(signs)]
    return re.compile("|".join([*others, f"[{signs}]+", "[a-z]+"])), named


def names(sentence: str) -> set[str]:
    """Return a sentence's names, lower-case: capitalized inside it, or with inner capitals or
    digits.
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
    """Return whether a text negates something."""
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
#: Maximum characters of a sentence considered, and of the subject before a relation.
MOST_CHARS, SUBJECT_CHARS = 2_000, 300
#: Generic words in the name of a licence.
_GENERIC = frozenset({"license", "licence", "the", "and", "of"})


@dataclass(frozen=True)
class Relation:
    """A relation that names `value` as `what` of a subject; `subject` are its stems, None for a
    pronoun.
    """

    what: str
    subject: frozenset[str]
    value: frozenset[str]


@lru_cache(maxsize=2_000)
def relations(sentence: str) -> tuple[Relation, ...]:
    """Return the relations stated in a plain sentence."""
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
    """Return whether two sentences name different values of one thing, by a pronoun if it is asked
    for.
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
