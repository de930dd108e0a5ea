"""Location of a quote in a page, and its emphasis."""

from __future__ import annotations

import re
import string
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from spadework.tools.text.markdown import Inline, Pair, plain, scan
from spadework.tools.text.sentences import sentences
from spadework.tools.text.terms import is_whole

Strength = Literal["em", "strong"]

_MEANT: dict[str, Strength] = {"*": "em", "_": "em", "**": "strong", "__": "strong"}
MARKS: dict[Strength, str] = {"em": "*", "strong": "**"}
#: Characters allowed around emphasis other than white space, and at its ends other than letters and
#: digits: with these every Markdown renderer recognizes the marks.
_AROUND = frozenset(string.punctuation) - frozenset("*_~`\\") | frozenset("“”‘’„«»–—…")
_INSIDE = _AROUND | {"`"}


class Emphasis(NamedTuple):
    """An opening mark `start:inner_start`, its closing mark `inner_end:end`, and its strength."""

    start: int
    inner_start: int
    inner_end: int
    end: int
    strength: Strength


def emphases(text: str, found: Inline) -> list[Emphasis]:
    """Return the emphasis, in order, that every renderer shows: not nested, and not next to a
    hidden mark.
    """
    ticks = {edge for span in found.code for edge in span}
    shown = [mark for mark in found.marks if not ticks & {mark.start, mark.end}]
    ends = {mark.end for mark in found.marks}
    begins = {mark.start for mark in found.marks}
    within = {mark.start for mark in shown}, {mark.end for mark in shown}
    kept: list[Emphasis] = []
    for pair in sorted(found.pairs):
        strength = _MEANT.get(text[pair.start : pair.inner_start])
        beside = pair.start in ends or pair.end in begins
        beside = beside or pair.inner_start in within[0] or pair.inner_end in within[1]
        apart = not beside and (not kept or pair.start > kept[-1].end)
        if strength and apart and _clear(text, pair):
            kept.append(Emphasis(*pair, strength))
    return kept


def _clear(text: str, pair: Pair) -> bool:
    """Return whether every renderer recognizes a pair of marks."""
    before, after = text[max(0, pair.start - 1) : pair.start], text[pair.end : pair.end + 1]
    first, last = text[pair.inner_start], text[pair.inner_end - 1]
    apart = all(not one or one.isspace() or one in _AROUND for one in (before, after))
    within = all(one.isalnum() or one in _INSIDE for one in (first, last))
    return pair.inner_start < pair.inner_end and apart and within


__all__ = ["locate", "normal", "plain", "sentences"]

#: A shorter quote must match exactly.
MIN_CHARS = 12

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_VARIANTS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    }
)
#: What is replaced by a different length; single spaces are skipped, for speed.
_FOLDED = re.compile(rf"[\s{_INVISIBLE}]{{2,}}|[^\S ]|[{_INVISIBLE}]|\.\.\.")


@dataclass(frozen=True)
class _Normal:
    """A normalized text: `text[i]` is at `starts[i]:ends[i]` of the source."""

    text: str
    starts: array[int]
    ends: array[int]
    pairs: tuple[Pair, ...]


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Return the offsets of a quote in a text, in code points, or None.

    Tries the exact words, then their normal form. A quote starts and ends at word boundaries. One
    under 12 characters must be exact. The span includes a Markdown mark at its ends if the mark's
    partner is inside.
    """
    quote = quote.strip()
    if not any(char.isalnum() for char in quote):
        return None
    exact = _whole(quote, text)
    if exact is not None:
        return exact, exact + len(quote)
    page = _normal(text) if len(quote) >= MIN_CHARS else None
    for needle in dict.fromkeys((normal(quote), _fold(quote))) if page else ():
        found = _whole(needle, page.text) if page and len(needle) >= MIN_CHARS else None
        if page and found is not None:
            start, end = page.starts[found], page.ends[found + len(needle) - 1]
            return _balance_marks(start, end, page.pairs)
    return None


def normal(text: str) -> str:
    """Return readable text with single spaces, straight quotes, plain dashes, and nothing
    invisible.
    """
    return _fold(plain(text)).strip()


def _whole(needle: str, text: str) -> int | None:
    at = text.find(needle) if needle else -1
    while at >= 0:
        if is_whole(text, at, at + len(needle)):
            return at
        at = text.find(needle, at + 1)
    return None


def _balance_marks(start: int, end: int, pairs: tuple[Pair, ...]) -> tuple[int, int]:
    """Extend the span by adjacent marks whose partners are inside."""
    openings = {pair.inner_start: pair for pair in pairs if start <= pair.inner_end < end}
    closings = {pair.inner_end: pair for pair in pairs if start < pair.inner_start <= end}
    while (pair := openings.get(start)) and pair.inner_end < end:
        start = pair.start
    while (pair := closings.get(end)) and pair.start >= start:
        end = pair.end
    return start, end


def _folds(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of a text whose normal form has another length, with that form."""
    for match in _FOLDED.finditer(text):
        run = match[0]
        yield *match.span(), "\u2026" if run == "..." else " " if run.strip(_INVISIBLE) else ""


def _fold(text: str) -> str:
    shown, at = [], 0
    for start, end, form in _folds(text):
        shown += [text[at:start], form]
        at = end
    return "".join([*shown, text[at:]]).translate(_VARIANTS)


@lru_cache(maxsize=32)
def _normal(text: str) -> _Normal:
    inline = scan(text)
    starts, ends = array("I", range(len(text))), array("I", range(1, len(text) + 1))
    readable, starts, ends = _replace_spans(text, inline.marks, starts, ends)
    folded, starts, ends = _replace_spans(readable, _folds(readable), starts, ends)
    return _Normal(folded.translate(_VARIANTS), starts, ends, tuple(inline.pairs))


def _replace_spans(
    text: str, changes: Iterable[tuple[int, int, str]], starts: array[int], ends: array[int]
) -> tuple[str, array[int], array[int]]:
    """Apply the changes (start, end, new) to the text, adjusting its offsets."""
    shown, at = [], 0
    new_starts, new_ends = array("I"), array("I")
    for start, end, new in changes:
        shown += [text[at:start], new]
        new_starts += starts[at:start] + array("I", [starts[start]] * len(new))
        new_ends += ends[at:start] + array("I", [ends[end - 1]] * len(new))
        at = end
    return "".join([*shown, text[at:]]), new_starts + starts[at:], new_ends + ends[at:]
