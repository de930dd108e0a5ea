"""Small typed operations over the tables of a text: what a question asks of their rows is the
largest, the smallest, a sum, a count, or the one row that its words name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from spadework.tools.text.facts import OTHER_WORDS
from spadework.tools.text.language import Language, language
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.markdown_tables import Span, cells, header_of, rows_of
from spadework.tools.text.terms import terms

Kind = Literal["largest", "smallest", "sum", "count", "row"]

_KINDS: tuple[Kind, ...] = ("sum", "largest", "smallest", "count")
#: Rows that make a table on which an operation says more than the rows themselves.
LEAST_ROWS = 3
#: Of the words of a question more than this share stand in the table, or it is about another one.
LEAST_HELD = 0.5
#: A figure, as a whole cell or at its beginning.
_FIGURE = re.compile(r"[^\w\s-]?\s?(-?\d+(?:,\d{3})*(?:\.\d+)?)(?:\D*)")


@dataclass(frozen=True)
class Computed:
    """What an operation on a table gives: its `value` as the table writes numbers, in a `column`
    ("" for a count), over the `rows` (their places in the text) of `of` rows where the conditions
    of `where` hold. `score` is the share of the question's words that the table holds.
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
    """Return what a question asks of the tables of a text, None where it asks nothing of them or
    names no column of theirs. `about` are the words above the text, such as its title.
    """
    known = language(code)
    asked = known.asked(question)
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
    columns = [n for n, name in enumerate(table.names) if _held(asked, _stems(name, known))]
    where = _conditions(question, asked, known, table)
    kept = [row for row in table.rows if all(row[1][n] in values for n, values in where.items())]
    held = _held(asked, _stems(f"{about} {' '.join(table.names)}", known)).union(
        *(_held(asked, _months(value, known)) for values in where.values() for value in values)
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


def _apply(
    kind: Kind,
    kept: Sequence[tuple[Span, tuple[str, ...]]],
    numeric: Sequence[int],
    filtered: bool,
) -> tuple[str, list[Span], int] | None:
    """Return the value of an operation on the rows, where these stand, and its column."""
    if kind == "count":
        # A figure that a column holds is not counted, but read.
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
    """Return the figure of a cell, None for one that holds none."""
    found = _FIGURE.fullmatch(cell.strip())
    return float(found[1].replace(",", "")) if found else None


def _is_numeric(column: int, table: _Table) -> bool:
    return all(figure(row[column]) is not None for _, row in table.rows if row[column])


def _conditions(
    question: str, asked: set[str], known: Language, table: _Table
) -> dict[int, set[str]]:
    """Return the values that the question names, by their column: whole cells, of which a number
    counts only beside the name of its column.
    """
    found: dict[int, set[str]] = {}
    for n, name in enumerate(table.names):
        named = bool(_held(asked, _stems(name, known)))
        for value in {row[n] for _, row in table.rows}:
            own = _months(value, known)
            whole = bool(own) and own <= asked | _month_stems(question, known)
            if whole and (named or figure(value) is None):
                found.setdefault(n, set()).add(value)
    return found


def _held(asked: set[str], own: set[str]) -> set[str]:
    """Return the words asked for that stand among some stems, themselves or in other words."""
    return {stem for stem in asked if stem in own or own & set(OTHER_WORDS.get(stem, ()))}


@lru_cache(maxsize=20_000)
def _stemmed(text: str, code: str) -> frozenset[str]:
    return frozenset(terms(re.sub(r"[_/.-]", " ", text), code))


def _stems(text: str, known: Language) -> set[str]:
    return set(_stemmed(text, known.code))


def _months(value: str, known: Language) -> set[str]:
    """Return the stems of a cell; of the name of a month its number."""
    number = known.months.get(value.casefold())
    return {f"m{number}"} if number else _stems(value, known)


def _month_stems(question: str, known: Language) -> set[str]:
    words = re.findall(r"\w+", question.casefold())
    return {f"m{known.months[word]}" for word in words if word in known.months}


def _form_words(question: str, known: Language) -> set[str]:
    """Return the stems of the words that only say which operation is asked for; "population", which
    asks for a number too, is the name of a column.
    """
    found: Iterator[str] = (
        match[0]
        for name in _KINDS
        if name in known.cues
        for match in known.cues[name].finditer(question)
        if name != "count" or match[0].split()[0].casefold() in known.stop
    )
    return {stem for words in found for stem in terms(words, known.code)}
