"""Typed operations on the tables of a text: maximum, minimum, sum, count, or the row named by the
question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from spadework.tools.text.facts import OTHER_WORDS
from spadework.tools.text.language import Language, language
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.markdown_tables import Span, cells, header_of, rows_of
from spadework.tools.text.quantities import is_unit
from spadework.tools.text.terms import terms

Kind = Literal["largest", "smallest", "sum", "count", "row"]

_KINDS: tuple[Kind, ...] = ("sum", "largest", "smallest", "count")
#: Minimum rows of a table for an operation.
LEAST_ROWS = 3
#: Minimum share of the question's words in a table about it.
LEAST_HELD = 0.5
#: A figure as a whole cell or at its start.
_FIGURE = re.compile(r"[^\w\s-]?\s?(-?\d+(?:,\d{3})*(?:\.\d+)?)(?:\D*)")


@dataclass(frozen=True)
class Computed:
    """The result of an operation: its `value` as the table writes numbers, in a `column` ("" for a
    count), over the `rows` (spans in the text) of `of` rows that satisfy `where`. `score` is the
    share of the question's words in the table.
    """

    kind: Kind
    value: str
    rows: tuple[Span, ...]
    of: int
    column: str
    where: str
    score: float


@dataclass(frozen=True)
class _Table:
    names: tuple[str, ...]
    rows: tuple[tuple[Span, tuple[str, ...]], ...]


def compute(question: str, code: str, text: str, about: str = "") -> Computed | None:
    """Return the result a question asks of a text's tables, None if it asks nothing of them or
    names no column. `about` is the text's title or similar.
    """
    known = language(code)
    asked = known.cues_in(question)
    wanted: list[Kind] = [*(kind for kind in _KINDS if {kind} & asked), "row"]
    found = (
        made
        for table in _tables(text)
        for kind in wanted
        if (made := _compute(kind, question, known, table, about))
    )
    return max(found, key=lambda made: made.score, default=None)


@lru_cache(maxsize=64)
def _tables(text: str) -> tuple[_Table, ...]:
    made = []
    for block in blocks(text):
        header = header_of(text, block) if block.kind == "table" else None
        if header:
            names = tuple(map(plain, cells(text[slice(*header)])))
            rows = [(s, tuple(map(plain, cells(text[slice(*s)])))) for s in rows_of(text, block)]
            whole = tuple(row for row in rows if len(row[1]) == len(names))
            made += [_Table(names, whole)] if len(whole) >= LEAST_ROWS else []
    return tuple(made)


def _compute(
    kind: Kind, question: str, known: Language, table: _Table, about: str
) -> Computed | None:
    asked = set(terms(question, known.code)) - _form_words(question, known)
    where = _conditions(question, asked, known, table)
    keys = _stems(" ".join(value for values in where.values() for value in values), known)
    columns = [
        n for n, name in enumerate(table.names) if _is_named(name, question, asked, keys, known)
    ]
    kept = [row for row in table.rows if all(row[1][n] in values for n, values in where.items())]
    held = _matching_stems(asked, _stems(f"{about} {' '.join(table.names)}", known)).union(
        *(
            _matching_stems(asked, _months(value, known))
            for values in where.values()
            for value in values
        )
    )
    score = len(held) / len(asked) if asked else 0.0
    if not kept or score <= LEAST_HELD or not (columns or where):
        return None
    told = "; ".join(f"{table.names[n]} = {sorted(values)[0]}" for n, values in where.items())
    numeric = [n for n in columns if n not in where and _is_numeric(n, table)]
    made = _apply(kind, kept, numeric, bool(where))
    if made is None:
        return None
    value, rows, column = made
    name = table.names[column] if column >= 0 else ""
    return Computed(kind, value, tuple(rows), len(table.rows), name, told, score)


def _is_named(name: str, question: str, asked: set[str], keys: set[str], known: Language) -> bool:
    """Return whether a question names a column: by all words except figures and units, and not as
    part of another name ("population density"). `keys` are words of a row.
    """
    every = _stems(name, known)
    own = {stem for stem in every if stem.isalpha() and not is_unit(stem)} or every
    others = {other for stem in asked for other in OTHER_WORDS.get(stem, ())}
    if not own or not own <= asked | others:
        return False
    words = re.findall(r"[\w-]+", question)
    behind = [after for word, after in pairwise(words) if _stems(word, known) & own]
    return not any(word.islower() and _stems(word, known) - own - keys for word in behind)


def _apply(
    kind: Kind,
    kept: Sequence[tuple[Span, tuple[str, ...]]],
    numeric: Sequence[int],
    filtered: bool,
) -> tuple[str, list[Span], int] | None:
    """Return the value of an operation on the rows, their spans, and its column."""
    if kind == "count":
        # A figure in a column is read, not counted.
        fits = filtered and not numeric and len(kept) > 1
        return (str(len(kept)), [span for span, _ in kept], -1) if fits else None
    if kind == "row":
        fits = filtered and len(kept) == 1 and bool(numeric)
        return (kept[0][1][numeric[0]], [kept[0][0]], numeric[0]) if fits else None
    if len(numeric) != 1:
        return None
    [column] = numeric
    figures = [(value, row) for row in kept if (value := figure(row[1][column])) is not None]
    if kind == "sum":
        total = math.fsum(value for value, _ in figures)
        return f"{total:.6f}".rstrip("0").rstrip("."), [row[0] for _, row in figures], column
    best = (max if kind == "largest" else min)(value for value, _ in figures)
    rows = [row for value, row in figures if value == best]
    return rows[0][1][column], [row[0] for row in rows], column


def figure(cell: str) -> float | None:
    """Return the figure of a cell, or None."""
    found = _FIGURE.fullmatch(cell.strip())
    return float(found[1].replace(",", "")) if found else None


def _is_numeric(column: int, table: _Table) -> bool:
    return all(figure(row[column]) is not None for _, row in table.rows if row[column])


def _conditions(
    question: str, asked: set[str], known: Language, table: _Table
) -> dict[int, set[str]]:
    """Return the values named in the question, by column: whole cells; a number only with its
    column's name.
    """
    found: dict[int, set[str]] = {}
    for n, name in enumerate(table.names):
        named = bool(_matching_stems(asked, _stems(name, known)))
        for value in {row[n] for _, row in table.rows}:
            own = _months(value, known)
            whole = bool(own) and own <= asked | _month_stems(question, known)
            if whole and (named or figure(value) is None):
                found.setdefault(n, set()).add(value)
    return found


def _matching_stems(asked: set[str], own: set[str]) -> set[str]:
    return {stem for stem in asked if stem in own or own & set(OTHER_WORDS.get(stem, ()))}


@lru_cache(maxsize=20_000)
def _stemmed(text: str, code: str) -> frozenset[str]:
    return frozenset(terms(re.sub(r"[_/.-]", " ", text), code))


def _stems(text: str, known: Language) -> set[str]:
    return set(_stemmed(text, known.code))


def _months(value: str, known: Language) -> set[str]:
    """Return the stems of a cell; for a month, its number."""
    number = known.months.get(value.casefold())
    return {f"m{number}"} if number else _stems(value, known)


def _month_stems(question: str, known: Language) -> set[str]:
    words = re.findall(r"\w+", question.casefold())
    return {f"m{known.months[word]}" for word in words if word in known.months}


def _form_words(question: str, known: Language) -> set[str]:
    """Return the stems of the words that only name the operation; "population", which also asks for
    a number, is a column.
    """
    found: Iterator[str] = (
        match[0]
        for name in _KINDS
        if name in known.cues
        for match in known.cues[name].finditer(question)
        if name != "count" or match[0].split()[0].casefold() in known.stop
    )
    return {stem for words in found for stem in terms(words, known.code)}
