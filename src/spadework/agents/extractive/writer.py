"""The writer without a model: the assessor's quotes verbatim, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, zip_longest

from spadework.tools.text.markdown_tables import cells, row_as_sentence
from spadework.tools.text.quotes import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Part, Section, Sentence

#: Kinds of a row with column names.
_NAMES = ("columns", "cells")
#: Minimum rows of a table; fewer are sentences.
LEAST_ROWS = 2


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """Return a topic's quotes in the order of the ledger, which is that of their pages. Adjacent
    rows of a table become a table.
    """
    made = Section(heading=heading)
    named = {e.id: columns for e in evidence if (columns := columns_of(e, evidence))}
    heads = {columns.id for columns in named.values()}
    told = [e for e in evidence if e.kind != "columns" and e.id not in heads]
    for columns, together in groupby(told, lambda e: named.get(e.id)):
        own = list(together)
        # Names quoted as a row are one of the rows.
        if columns and len(own) + (columns.kind == "cells") >= LEAST_ROWS:
            made = made.followed_by(_table(own, columns))
        else:
            said = tuple(quote_entry(e, named.get(e.id)) for e in own)
            made = made.followed_by(Section(heading=heading, sentences=said))
    return made


def _table(rows: Sequence[Evidence], columns: Evidence) -> Section:
    drawn = [cells_of(row, columns) for row in rows]
    names = max(([name for name, _ in found] for found in drawn), key=len)
    told, takes = list[Sentence](), list[int]()
    for row, found in zip(rows, drawn, strict=True):
        texts = [text for _, text in found] + [""] * (len(names) - len(found))
        ids = (row.id, columns.id)
        told += [Sentence(text=text, evidence_ids=ids) for text in texts if text]
        takes += [int(bool(text)) for text in texts]
    part = Part(form="table", columns=tuple(names), takes=tuple(takes), quoted=True)
    return Section(heading="", sentences=tuple(told), parts=(part,))


def quote_entry(evidence: Evidence, columns: Evidence | None = None) -> Sentence:
    """Return the quote as a sentence, a "row" with the names of its `columns`."""
    quote, ids = evidence.quote, tuple[str, ...]([evidence.id])
    if evidence.kind == "code":
        return Sentence(text=quote, evidence_ids=ids, code=True, language=evidence.language)
    if evidence.kind in ("row", "cells"):
        named = columns if evidence.kind == "row" else None
        said = [row_as_sentence(named.quote if named else "", quote)]
        ids = (*ids, named.id) if named else ids
    else:
        said = [quote[start:end] for start, end in sentences(quote)] or [quote]
    return Sentence(text=" ".join(" ".join(said).split()), evidence_ids=ids)


def cells_of(row: Evidence, columns: Evidence) -> list[tuple[str, str]]:
    """Return a row's cells with their column names; missing ones are ""."""
    names, told = ([" ".join(cell.split()) for cell in cells(e.quote)] for e in (columns, row))
    return list(zip_longest(names, told, fillvalue=""))


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """Return the entry with a row's column names, from its own table. With two columns they may
    have been quoted as a row.
    """
    if row.columns is None:
        return None
    at = (row.content_hash, row.columns)
    named = (e for e in ledger if e.kind in _NAMES and (e.content_hash, e.start) == at)
    return next(named, None)


def own_cell(text: str, row: str, cited: Sequence[Evidence]) -> bool:
    """Return whether a text is a cell of a cited row: the first one if `row` is "", else one in the
    row and column named by `row`.
    """
    for e in cited:
        columns = columns_of(e, cited)
        (_, first), *others = cells_of(e, columns) if columns else [("", "")]
        named = [("", first), *((f"{first} · {name}", value) for name, value in others)]
        if columns and (row, text) in named:
            return True
    return False


def own_words(sentence: Sentence, cited: Sequence[Evidence]) -> bool:
    """Return whether a sentence consists of whole sentences of its quotes: fragments may say the
    opposite.
    """
    if any(quote_entry(e, columns_of(e, cited)).text == sentence.text for e in cited):
        return True
    said = _words(sentence.text)
    for e in cited:
        told = [_words(e.quote[start:end]) for start, end in sentences(e.quote)]
        # Runs of consecutive sentences, from each one on.
        runs = (accumulate(told[first:], "{} {}".format) for first in range(len(told)))
        if any(said in run for run in runs):
            return True
    return False


def _words(text: str) -> str:
    return " ".join(plain(text).split())
