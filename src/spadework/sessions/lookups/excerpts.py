"""Excerpts within a size limit: relevant pieces of a page, quotes of topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spadework.agents.extractive import writer
from spadework.tools.export.fitted_text import PIECE_CHARS, around, largest
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.ranking.bm25 import Bm25
from spadework.tools.text.language import spoken
from spadework.tools.text.passages import cut
from spadework.values import Report, Result

#: Pieces of a long page shown with their surroundings.
BEST_PIECES = 5
#: Maximum characters of a page considered.
MOST_CHARS = 60_000


def excerpt(text: str, query: str, fits: Callable[[str], bool]) -> str:
    """Return the longest excerpt that `fits`: everything, else whole pieces around the best, else
    the start.
    """
    spans = _best(text[:MOST_CHARS], query)
    size = largest(min(len(text), MOST_CHARS), lambda chars: fits(_show_spans(text, spans, chars)))
    return _show_spans(text, spans, size)


def of_quotes(result: Result) -> Result:
    """Return the result with a report that consists of each topic's quotes."""
    sections = tuple(
        writer.section(topic.name, topic.evidence) for topic in result.topics if topic.evidence
    )
    document = Report(title=result.question, sections=sections)
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    return result.model_copy(
        update={"document": document, "report": to_markdown(document, ledger, result.sources)}
    )


def _show_spans(text: str, spans: Sequence[tuple[int, int]], chars: int) -> str:
    if len(text) <= chars:
        return text
    return around(text[:MOST_CHARS], spans, chars) or text[:chars]


def _best(text: str, query: str) -> list[tuple[int, int]]:
    pieces = cut(text, PIECE_CHARS)
    languages = [spoken(text)] * len(pieces)
    scores = Bm25([text[start:end] for start, end in pieces], languages).scores(query)
    ranked = sorted(range(len(pieces)), key=lambda n: -scores[n])
    return [pieces[n] for n in ranked[:BEST_PIECES] if scores[n] > 0]
