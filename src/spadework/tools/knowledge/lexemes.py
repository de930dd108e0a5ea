"""Passages and questions for PostgreSQL's full text search, in words by the library's rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spadework.tools.knowledge.entry import Entry
from spadework.tools.knowledge.page_ranking import document
from spadework.tools.library.document import pieces
from spadework.tools.library.query import Asked, Term
from spadework.tools.library.schema import all_terms

#: The last place that a word can have in a passage.
_LAST = 16_383
#: PostgreSQL's weights of title, heading, body (`schema.BOOSTS`), and their worth, D to A.
TITLE, HEADING, BODY = "A", "B", "D"
WEIGHTS = [0.5, 0.5, 0.6, 0.75]


class Passage(NamedTuple):
    """A stretch of a page, and its words as a tsvector."""

    begins: int
    ends: int
    words: str


def passages_of(entry: Entry, owner: str) -> list[Passage]:
    """The passages of a page, with the mark of its owner among their words."""
    title = all_terms(entry.page.title)
    made = []
    for piece in pieces(document(entry)):
        body = all_terms(entry.text[piece.start : piece.end])
        fields = ((title, TITLE), (all_terms(piece.heading), HEADING), (body, BODY))
        made.append(Passage(piece.start, piece.end, _vector(fields, owner)))
    return made


def words_of(question: Asked) -> list[str]:
    """The words of a question, each once, as lexemes that a tsquery is made of."""
    return [*dict.fromkeys(word for term in question.terms for word in lexemes_of(term))]


def lexemes_of(term: Term) -> list[str]:
    """The words of a term."""
    return [lexeme(word) for word in ((term.text,) if term.signed else term.words)]


def mark(owner: str) -> str:
    """The lexeme that all passages of an owner have: it begins with a sign, as no word does."""
    return lexeme(f"@{owner}")


def lexeme(word: str) -> str:
    """A word, quoted."""
    plain = word.replace("\x00", "").encode(errors="replace").decode()
    return "'" + plain.replace("\\", "\\\\").replace("'", "''") + "'"


def _vector(fields: Iterable[tuple[list[str], str]], owner: str) -> str:
    places: dict[str, list[str]] = {mark(owner): []}
    weighed = ((word, weight) for words, weight in fields for word in words)
    for place, (word, weight) in enumerate(weighed, 1):
        places.setdefault(lexeme(word), []).append(f"{min(place, _LAST)}{weight}")
    return " ".join(f"{word}:{','.join(at)}" if at else word for word, at in places.items())
