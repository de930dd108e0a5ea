"""Sentences that are the words of an entry of the ledger, put together by code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from spadework.tools.text.markdown_tables import row_as_sentence
from spadework.tools.text.quotes import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Sentence


def quote_entry(evidence: Evidence, columns: Evidence | None = None) -> Sentence:
    """The sentence that is the quote itself. A row of a table is told with the names of its
    `columns`.
    """
    if evidence.kind in ("row", "cells"):
        ids = (evidence.id, columns.id) if columns else (evidence.id,)
        return Sentence(
            text=" ".join(
                row_as_sentence(columns.quote if columns else "", evidence.quote).split()
            ),
            evidence_ids=ids,
        )
    if evidence.kind == "code":
        return Sentence(
            text=evidence.quote, evidence_ids=(evidence.id,), code=True, language=evidence.language
        )
    said = [evidence.quote[start:end] for start, end in sentences(evidence.quote)]
    return Sentence(
        text=" ".join(" ".join(said or [evidence.quote]).split()), evidence_ids=(evidence.id,)
    )


def columns_of(row: Evidence, ledger: Iterable[Evidence]) -> Evidence | None:
    """The entry with the names of the columns of a row: those of its own table."""
    if row.kind != "row" or row.columns is None:
        return None
    return next(
        (
            e
            for e in ledger
            if e.kind == "columns" and (e.content_hash, e.start) == (row.content_hash, row.columns)
        ),
        None,
    )


def own_words(sentence: Sentence, cited: Sequence[Evidence]) -> bool:
    """Whether a sentence is whole sentences of what it cites, and nothing else: words that are torn
    from a sentence may say the opposite of it.
    """
    if any(quote_entry(e, columns_of(e, cited)).text == sentence.text for e in cited):
        return True
    said = _words(sentence.text)
    return any(said in _runs(e.quote) for e in cited)


def _runs(quote: str) -> Iterator[str]:
    """The words of the sentences of a quote that follow each other."""
    told = [_words(quote[start:end]) for start, end in sentences(quote)]
    for first in range(len(told)):
        yield from accumulate(told[first:], "{} {}".format)


def _words(text: str) -> str:
    return " ".join(plain(text).split())
