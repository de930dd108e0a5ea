"""The writer without a model: what the assessor chose, as it stands in its pages, each with its
evidence, nothing added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from spadework.tools.text.markdown_tables import row_as_sentence
from spadework.tools.text.quotes import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Section, Sentence


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """The quotes of a topic in the order of the ledger, which is that of their pages."""
    told = tuple(
        quote_entry(e, columns=columns_of(e, evidence)) for e in evidence if e.kind != "columns"
    )
    return Section(heading=heading, sentences=told)


def quote_entry(evidence: Evidence, columns: Evidence | None = None) -> Sentence:
    """The sentence that is the quote itself, of a row with the names of its `columns`."""
    quote, ids = evidence.quote, tuple[str, ...]([evidence.id])
    if evidence.kind == "code":
        return Sentence(text=quote, evidence_ids=ids, code=True, language=evidence.language)
    if evidence.kind in ("row", "cells"):
        said = [row_as_sentence(columns.quote if columns else "", quote)]
        ids = (*ids, columns.id) if columns else ids
    else:
        said = [quote[start:end] for start, end in sentences(quote)] or [quote]
    return Sentence(text=" ".join(" ".join(said).split()), evidence_ids=ids)


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """The entry with the names of the columns of a row: those of its own table."""
    if row.kind != "row" or row.columns is None:
        return None
    at = (row.content_hash, row.columns)
    named = (e for e in ledger if e.kind == "columns" and (e.content_hash, e.start) == at)
    return next(named, None)


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
