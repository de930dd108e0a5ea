"""What code can say of a sentence and the pages it cites. It refuses little, and always the same:
what is surely in no page. What only looks wrong is flagged, so that a model looks twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from spadework.tools.facts import months, names, negated, numbers, spelled, stems
from spadework.tools.quantities import Figure, borne_out, figures, is_unit
from spadework.tools.quotes import plain
from spadework.tools.sentences import sentences
from spadework.tools.text.detect import spoken
from spadework.tools.text.language import language
from spadework.tools.tokens import rather_a_name
from spadework.tools.urls import addresses
from spadework.values import Evidence, Sentence

#: Share of a sentence's content words that the sentence of a quote must have to be what it says in
#: other words (benchmarks/verifier.py).
SAME_MATTER = 0.5
#: A number word up to this may count what is told.
COUNTED = 12

_CODE = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[^\W_][\w-]+")
_INSIDE = re.compile(r"(?<=\w)[^\W_a-zß-öø-ÿ]|[A-Z].*\d")
_NAMES = re.compile(r"\b(?:[A-Z][^\W\d_]+(?: (?:of|and|the|for) | )){1,5}[A-Z][^\W\d_]+")
#: A date as machines write it, with its month.
_ISO = re.compile(r"\b\d{4}-(0[1-9]|1[0-2])(?:-\d\d)?\b")
#: What begins a comment in most languages.
_COMMENT = re.compile(r"#|//|--|;|/\*|<!--|%")
_SPACE = re.compile(r"\s+")


def refused(
    sentence: Sentence, cited: Sequence[Evidence], pages: Sequence[str], question: str
) -> str:
    """Why a sentence cannot stand, "" where code has nothing against it: an address, a piece of
    code, a figure, a date or a name that stands nowhere in the texts of the `pages` it cites, their
    titles and dates, or the question.
    """
    if not cited:
        return "It cites no evidence."
    if sentence.code:
        return _strange_code(sentence, pages)
    said, known = plain(sentence.text), (*pages, _about(cited), question)
    if foreign := addresses(said).difference(*map(addresses, known)):
        return f"No source has the address {min(foreign)}."
    for code in _CODE.findall(sentence.text):
        if not any(_bare(code) in _bare(text) for text in known):
            return f"“{code}” stands in none of its sources."
    found = strange(sentence.text, known)
    return f"{', '.join(found)}: in no page that is cited." if found else ""


def strange(text: str, known: Sequence[str]) -> list[str]:
    """The figures, dates and names of a text that stand in nothing `known`."""
    said = plain(text)
    return [*_strange_figures(said, known), *_strange_names(said, known)]


def flagged(sentence: Sentence, cited: Sequence[Evidence]) -> str:
    """What looks wrong though it may be right, as a note for who judges; "" where nothing does: a
    denial on one side only, a relation that no quote names, or a figure or name that stands in the
    page but not in what is cited.
    """
    said = plain(sentence.text)
    quotes = [plain(e.quote) for e in cited]
    near = (*quotes, _about(cited), *(plain(f"{e.before} {e.after}") for e in cited))
    if found := strange(sentence.text, near):
        return f"{', '.join(found)}: not in the quotes."
    if unrelated := _unrelated(said, near):
        return f"“{unrelated}” is what nobody is called in the quotes."
    if _denied(said, quotes):
        return "Only one of the two, sentence or quote, denies something."
    return ""


def _unrelated(said: str, near: Sequence[str]) -> str:
    """What somebody is to somebody in a sentence, as a stem, and in no quote, told from either
    side; "" where there is nothing of the kind.
    """
    code = spoken(*near)
    sides = language(code).other_side
    there = frozenset[str]().union(*(_stems(text, code) for text in near))
    found = stems(said, code) & sides.keys()
    return min((stem for stem in found if not {stem, *sides[stem]} & there), default="")


def _denied(said: str, quotes: Sequence[str]) -> bool:
    """Whether a sentence denies what the nearest sentence of its quotes says, or the other way."""
    code = spoken(*quotes)
    if spoken(said) != code:
        return False
    own = stems(said, code)
    parts = [quote[start:end] for quote in quotes for start, end in sentences(quote, code)]
    nearest = max(parts or quotes, key=lambda part: len(own & stems(part, code)))
    same = len(own & stems(nearest, code)) >= SAME_MATTER * len(own)
    return same and negated(said, code) != negated(nearest, code)


def _about(cited: Sequence[Evidence]) -> str:
    """What is told of the pages beside their texts. A date in the ways in which it is written."""
    dates = sorted({e.published_at for e in cited if e.published_at})
    return "\n".join(
        [
            *dict.fromkeys(f"{e.title}\n{e.heading}\n{e.author}\n{e.url}" for e in cited),
            *(f"{date:%Y-%m-%d} {date.day} {date:%B} {date.year}" for date in dates),
        ]
    )


def _strange_figures(said: str, known: Sequence[str]) -> list[str]:
    """The figures and months of a sentence that are not known, neither converted nor rounded.
    Number words up to twelve may count what is told.
    """
    own = spoken(said, *known)
    there = frozenset[str]().union(*(_figures(text, spoken(text)) for text in known))
    sources = [figure for text in known for figure in figures(text, spoken(text))]
    found = [
        figure.text
        for figure in figures(said, own)
        if not (_counts(figure) or numbers(figure.text, own) & there or borne_out(figure, sources))
    ]
    return [*found, *sorted(months(said, own) - there)]


def _counts(figure: Figure) -> bool:
    return figure.text[-1].isalpha() and figure.readings[0].value <= COUNTED


def _strange_names(said: str, known: Sequence[str]) -> list[str]:
    """The names of a sentence that are not known. In another language than that of the pages, and
    where nouns are in capitals, only words with capitals or digits inside are surely names.
    """
    own = spoken(said, *known)
    pages = spoken(*known)
    surely = own == pages and not language(own).nouns_in_capitals
    found = names(said) | _opening(said, own) if surely else _marked(said)
    # Months are looked at with the figures beside them, units with theirs.
    checked = {part for name in found for part in name.split("-") if part}
    ordinary = language(own).months.keys() | language(pages).months.keys()
    return [
        name
        for name in sorted(checked - ordinary)
        if not is_unit(name)
        and not any(name in text.lower() or name.upper() in _initials(text) for text in known)
        and not any(stems(name, pages) <= _stems(text, pages) for text in known)
    ]


def _opening(said: str, code: str) -> set[str]:
    """The first words of sentences that are rather names, lower-case."""
    known = language(code)
    ordinary = known.stop | known.starters | known.leans
    found = (_WORD.search(said[slice(*span)]) for span in sentences(said, code))
    first = {match.group() for match in found if match and match.group()[0].isupper()}
    return {word.lower() for word in first if word.lower() not in ordinary and rather_a_name(word)}


def _marked(said: str) -> set[str]:
    """The words of a text with capitals or digits inside, lower-case."""
    return {word.lower() for word in _WORD.findall(said) if _INSIDE.search(word)}


def _strange_code(sentence: Sentence, pages: Sequence[str]) -> str:
    """Why a block of code cannot stand. One that is put together from several, with other names or
    paths, is marked as a conclusion: its lines begin as lines of its sources do.
    """
    if any(_bare(sentence.text) in _bare(text) for text in pages):
        return ""
    if sentence.inferred:
        known = {line.split()[0] for text in pages for line in text.splitlines() if line.split()}
        lines = [line.split()[0] for line in sentence.text.splitlines() if line.split()]
        new = [first for first in lines if first not in known and not _COMMENT.match(first)]
        return f"No line of its sources begins with “{new[0]}”." if new else ""
    return "This code stands in none of its sources."


@lru_cache(maxsize=64)
def _bare(text: str) -> str:
    """A text without white space and the backslashes by which Markdown escapes."""
    return _SPACE.sub("", text).replace("\\", "")


@lru_cache(maxsize=64)
def _figures(text: str, code: str) -> frozenset[str]:
    dates = {f"m{int(month)}" for month in _ISO.findall(text)}
    return frozenset(numbers(text, code) | spelled(text, code) | months(text, code) | dates)


@lru_cache(maxsize=64)
def _stems(text: str, code: str) -> frozenset[str]:
    return frozenset(stems(text, code))


@lru_cache(maxsize=64)
def _initials(text: str) -> frozenset[str]:
    """The initials of names of several words ("United Kingdom")."""
    return frozenset("".join(re.findall(r"\b[A-Z]", found)) for found in _NAMES.findall(text))
