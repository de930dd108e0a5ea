"""Write without a model: every sentence is a verbatim quote with a citation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby

from spadework.tools.text.markdown import plain
from spadework.tools.text.sentences import sentences
from spadework.tools.text.tables import named_cells, row_as_sentence, rows_between
from spadework.values import Evidence, Part, Section, Sentence

#: Kinds of evidence entries that can contain column names.
_NAMES = ("columns", "cells")
#: The minimum number of rows to show as a table. Fewer rows are written as sentences.
LEAST_ROWS = 2


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """Return a section that quotes the evidence in order, with adjacent table rows combined."""
    made = Section(heading=heading)
    named = {e.id: columns for e in evidence if (columns := columns_of(e, evidence))}
    heads = {columns.id for columns in named.values()}
    told = [
        row for e in evidence if e.kind != "columns" and e.id not in heads for row in rows_in(e)
    ]
    for columns, together in groupby(told, lambda e: named.get(e.id)):
        own = list(together)
        # A row of column names that is itself quoted as evidence counts as a row.
        if columns and len(own) + (columns.kind == "cells") >= LEAST_ROWS:
            made = made.followed_by(_table(own, columns))
        else:
            said = tuple(quote_entry(e, named.get(e.id)) for e in own)
            made = made.followed_by(Section(heading=heading, sentences=said))
    return made


def _table(rows: Sequence[Evidence], columns: Evidence) -> Section:
    drawn = [named_cells(columns.quote, row.quote) for row in rows]
    names = max(([name for name, _ in found] for found in drawn), key=len)
    told, takes = list[Sentence](), list[int]()
    for row, found in zip(rows, drawn, strict=True):
        texts = [text for _, text in found] + [""] * (len(names) - len(found))
        ids = (row.id, columns.id)
        told += [Sentence(text=text, evidence_ids=ids) for text in texts if text]
        takes += [int(bool(text)) for text in texts]
    part = Part(form="table", columns=tuple(names), takes=tuple(takes), quoted=True)
    return Section(heading="", sentences=tuple(told), parts=(part,))


def rows_in(evidence: Evidence) -> list[Evidence]:
    """Split an evidence entry into one entry per table row, all with the same id."""
    if evidence.kind not in ("row", "cells"):
        return [evidence]
    quote = evidence.quote
    rows = rows_between(quote, 0, len(quote))
    return [evidence.model_copy(update={"quote": quote[slice(*row)]}) for row in rows]


def quote_entry(evidence: Evidence, columns: Evidence | None = None) -> Sentence:
    """Convert a quote to a sentence. The sentence for a table row includes the column names."""
    quote, ids = evidence.quote, tuple[str, ...]([evidence.id])
    if evidence.kind == "code":
        return Sentence(text=quote, evidence_ids=ids, code=True, language=evidence.language)
    if evidence.kind in ("row", "cells"):
        named = columns if evidence.kind == "row" else None
        said = [row_as_sentence(named_cells(named.quote if named else "", quote))]
        ids = (*ids, named.id) if named else ids
    else:
        said = [quote[start:end] for start, end in sentences(quote)] or [quote]
    return Sentence(text=" ".join(" ".join(said).split()), evidence_ids=ids)


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """Return the entry with the column names for a row, or None."""
    if row.columns is None:
        return None
    at = (row.content_hash, row.columns)
    named = (e for e in ledger if e.kind in _NAMES and (e.content_hash, e.start) == at)
    return next(named, None)


def own_cell(text: str, row: str, cited: Sequence[Evidence]) -> bool:
    """Return whether a text is the content of the cited table cell that `row` names as "ROW ·
    COLUMN". If `row` is "", the text must be the first cell of some row.
    """
    for e in (row for one in cited for row in rows_in(one)):
        columns = columns_of(e, cited)
        (_, first), *others = named_cells(columns.quote if columns else "", e.quote)
        named = [("", first), *((f"{first} · {name}", value) for name, value in others)]
        if columns and (row, text) in named:
            return True
    return False


def own_words(sentence: Sentence, cited: Sequence[Evidence]) -> bool:
    """Return whether a sentence consists of whole quoted sentences. A fragment does not count,
    because it might say the opposite of the whole sentence.
    """
    rows = (row for e in cited for row in rows_in(e))
    if any(quote_entry(e, columns_of(e, cited)).text == sentence.text for e in rows):
        return True
    said = _words(sentence.text)
    for e in cited:
        told = [_words(e.quote[start:end]) for start, end in sentences(e.quote)]
        runs = (accumulate(told[first:], "{} {}".format) for first in range(len(told)))
        if any(said in run for run in runs):
            return True
    return False


def _words(text: str) -> str:
    return " ".join(plain(text).split())
