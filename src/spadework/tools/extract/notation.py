"""Write two-dimensional notation on one line: `10^6`, `x_1`, `√x`, `2 1/2`, `1984[4]`. If only the
markup were dropped, digits would run together: a superscript 6 after 10 would give 106.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import IntEnum

#: Placeholder for an unreadable formula.
FORMULA = "[formula]"
#: Maximum length of a superscript or subscript.
_MOST_CHARS = 40
_ATOM = re.compile(r"[-+\u2212\u2013±]?(?:\w+(?:[.,]\d+)*|\d+[-+\u2212])")
_ONE_WORD = re.compile(r"\d*(?:[.,]\d+)*|[^\W\d_]+")
_SIGNS = re.compile(r"[-+\u2212\u2013±]+")
#: Text after which a superscript is not a power: nothing, a space, punctuation or a quotation mark.
_ENDED = re.compile(r"(?:^|[\s.,;:!?\"'\u201d\u2019\u00bb\]…|])$")
_MARK = re.compile(r"\d{1,3}|[A-Za-z]")
_BETWEEN = re.compile(r"[\s,;\[\]()]+")
#: Symbols after which a subscript number is written without `_`, as in CO2, B12 and PM2.5.
_SYMBOLS = re.compile(
    r"(?<![^\W\d_])(?:[A-Z][a-z]?\d*|[()])*(?:[A-Z][a-z]?|\((?:[A-Z][a-z]?\d*)+\))$"
)
_COUNT = re.compile(r"\d+(?:\.\d+)?[a-z]?")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
STROKES = frozenset("/\u2044\u2215")
_VARIABLE = re.compile(r"(?<!\w)[^\W\d_]$")


class Place(IntEnum):
    """A text's vertical position, or its role as a note mark or fraction."""

    LOWERED = -1
    LEVEL = 0
    RAISED = 1
    #: A footnote mark.
    NOTE = 2
    #: A fraction already written on one line.
    FRACTION = 3


_STACK = [Place.RAISED, Place.LEVEL, Place.LOWERED]
_END = ("", Place.LEVEL)


def raised(base: str, text: str, following: str = "") -> str:
    """Write the superscript `text` between `base` and `following`, usually with `^`. A number or
    letter that cannot be a power becomes a note mark (`[3]`). Ordinals and trade marks are
    unchanged.
    """
    core = text.strip()
    if not core or core[0] in "[^" or len(core) > _MOST_CHARS or _is_raised_sign(core):
        return text
    if _ENDED.search(base) and not (_MARK.fullmatch(core) and _ISOTOPE.match(following)):
        return note(core, following) if _MARK.fullmatch(core) else text
    if core.isalpha() and len(core) > 1 and base[-1:].isalnum() and not _VARIABLE.search(base):
        return text  # An ordinal (10th) or a trade mark.
    return _script("^", core, following)


def lowered(base: str, text: str, following: str = "") -> str:
    """Write a subscript between `base` and `following`, with `_` except in chemical formulas."""
    core = text.strip()
    if not any(map(str.isalnum, core)) or len(core) > _MOST_CHARS or not base.strip():
        return text
    if base[-1:].isspace() or core[0] == "_":
        return text
    if _COUNT.fullmatch(core) and _SYMBOLS.search(base[-_MOST_CHARS:]):
        return core + _gap(core, following)
    return _script("_", core, following)


def note(text: str, following: str = "") -> str:
    """Write note marks in brackets, as in `[3]` or `[3][4]`."""
    shown = "".join(f"[{mark}]" for mark in _BETWEEN.split(text) if mark)
    return f"{shown} " if shown and following[:1].isalnum() else shown


def fraction(above: str, below: str) -> str:
    """Write a fraction on one line, with brackets around longer parts."""
    return f"{bracketed(above)}/{bracketed(below)}"


def root(inside: str, degree: str = "") -> str:
    """Write a square root as `√(x+1)`, and any other as `x^(1/3)`."""
    if degree.strip() not in ("", "2"):
        return f"{bracketed(inside)}^(1/{bracketed(degree)})"
    return f"√{bracketed(inside)}"


def bracketed(text: str) -> str:
    """Put text in brackets, unless it is one word or already in brackets."""
    core = text.strip()
    if _ONE_WORD.fullmatch(core) or _is_enclosed(core):
        return core
    return f"({core})"


def joined(pieces: Iterable[tuple[str, Place]]) -> str:
    """Join pieces into one line, formatting superscripts, subscripts, note marks and fractions."""
    runs: list[tuple[str, Place]] = []
    for text, place in pieces:
        if runs and (runs[-1][1] == place or not text.strip()):
            runs[-1] = (runs[-1][0] + text, runs[-1][1])
        elif text:
            runs.append((text, place))
    line = ""
    runs = _with_fractions(runs)
    for (text, place), (behind, level) in zip(runs, [*runs[1:], _END], strict=bool(runs)):
        line += written(line, text, behind if level == Place.LEVEL else "", place)
    return line


def _with_fractions(runs: list[tuple[str, Place]]) -> list[tuple[str, Place]]:
    places = [place for _, place in runs]
    for at in range(len(runs) - 3, -1, -1):
        if places[at : at + 3] == _STACK and runs[at + 1][0].strip() in STROKES:
            text = fraction(runs[at][0], runs[at + 2][0])
            runs[at : at + 3] = [(text, Place.FRACTION)]
            places[at : at + 3] = [Place.FRACTION]
    return runs


def written(base: str, text: str, following: str, place: Place) -> str:
    """Format the `text` between `base` and `following` as `place` says, keeping digits apart."""
    core = text.strip()
    if place == Place.LEVEL or not core:
        return text
    lead, _, trail = text.partition(core)
    shown = _WRITERS[place](base + lead, core, trail or following)
    before = " " * _meet(base + lead, shown)
    return lead + before + shown + " " * _meet(shown, trail or following) + trail


def _meet(left: str, right: str) -> bool:
    return left[-1:].isdigit() and right[:1].isdigit()


def _script(sign: str, core: str, following: str) -> str:
    shown = core if _ATOM.fullmatch(core) or _is_enclosed(core) else f"({core})"
    return f"{sign}{shown}{_gap(shown, following)}"


def _gap(text: str, following: str) -> str:
    last, first = text[-1:], following[:1]
    joins = (last.isdigit() and first.isdigit()) or (last.isalpha() and first.isalpha())
    return " " if joins else ""


def _is_raised_sign(core: str) -> bool:
    return not any(map(str.isalnum, core)) and not _SIGNS.fullmatch(core)


def _is_enclosed(core: str) -> bool:
    if core[:1] != "(" or core[-1:] != ")":
        return False
    depth = 0
    for place, sign in enumerate(core):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(core) - 1
    return False


_WRITERS: dict[Place, Callable[[str, str, str], str]] = {
    Place.RAISED: raised,
    Place.LOWERED: lowered,
    Place.NOTE: lambda base, text, following: note(text, following),
    Place.FRACTION: lambda base, text, following: text,
}
