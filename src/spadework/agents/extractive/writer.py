"""The writer without a model: what the assessor chose, as it stands in its pages, each with its
evidence, nothing added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, zip_longest

from spadework.tools.text.markdown_tables import cells, row_as_sentence
from spadework.tools.text.quotes import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Part, Section, Sentence

#: What a row with the names of columns is in the ledger.
_NAMES = ("columns", "cells")
#: Rows of a table that are told as one: fewer are sentences.
LEAST_ROWS = 2


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """The quotes of a topic in the order of the ledger, which is that of their pages. Rows of a
    table that stand together are a table.
    """
    made = Section(heading=heading)
    named = {e.id: columns for e in evidence if (columns := columns_of(e, evidence))}
    heads = {columns.id for columns in named.values()}
    told = [e for e in evidence if e.kind != "columns" and e.id not in heads]
    for columns, together in groupby(told, lambda e: named.get(e.id)):
        own = list(together)
        # Names that were quoted as a row are one of the rows.
        if columns and len(own) + (columns.kind == "cells") >= LEAST_ROWS:
            made = made.followed_by(_table(own, columns))
        else:
            said = tuple(quote_entry(e, named.get(e.id)) for e in own)
            made = made.followed_by(Section(heading=heading, sentences=said))
    return made


def _table(rows: Sequence[Evidence], columns: Evidence) -> Section:
    """Rows under the names of their columns, a sentence a cell that is not empty."""
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
    """The sentence that is the quote itself, of a "row" with the names of its `columns`."""
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
    """The cells of a row, each behind the name of its column, and empty ones for other names."""
    names, told = ([" ".join(cell.split()) for cell in cells(e.quote)] for e in (columns, row))
    return list(zip_longest(names, told, fillvalue=""))


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """The entry with the names of the columns of a row: those of its own table. Of two columns the
    names may have been quoted as a row.
    """
    if row.columns is None:
        return None
    at = (row.content_hash, row.columns)
    named = (e for e in ledger if e.kind in _NAMES and (e.content_hash, e.start) == at)
    return next(named, None)


def own_cell(text: str, row: str, cited: Sequence[Evidence]) -> bool:
    """Whether a text is a cell of a row that it cites: the first, where `row` is "", else one that
    is told in a `row` and a column of these names.
    """
    for e in cited:
        columns = columns_of(e, cited)
        (_, first), *others = cells_of(e, columns) if columns else [("", "")]
        named = [("", first), *((f"{first} · {name}", value) for name, value in others)]
        if columns and (row, text) in named:
            return True
    return False


def own_words(sentence: Sentence, cited: Sequence[Evidence]) -> bool:
    """Whether a sentence is whole sentences of what it cites, and nothing else: words that are torn
    from a sentence may say the opposite of it.
    """
    if any(quote_entry(e, columns_of(e, cited)).text == sentence.text for e in cited):
        return True
    said = _words(sentence.text)
    for e in cited:
        told = [_words(e.quote[start:end]) for start, end in sentences(e.quote)]
        # Its sentences that follow each other, from each on.
        runs = (accumulate(told[first:], "{} {}".format) for first in range(len(told)))
        if any(said in run for run in runs):
            return True
    return False


def _words(text: str) -> str:
    return " ".join(plain(text).split())
