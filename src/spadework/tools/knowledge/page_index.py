"""Index the passages of stored pages, and rank the pages by their matching passages."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import tantivy

from spadework.tools.knowledge.entry import Entry, Recalled, merge_spans
from spadework.tools.library.build import index_passages
from spadework.tools.library.document import Document, pieces
from spadework.tools.library.full_text import (
    Asked,
    Term,
    all_terms,
    open_index,
    open_writer,
    schema,
)
from spadework.tools.library.search import Match, Ranked, blend_rankings, rank, snippet, with_near
from spadework.tools.ranking.vectors import Near
from spadework.tools.stores.private_files import close_files, private_folder

#: If a question has fewer needed terms than this, `Recalled.share` is reduced, because unrelated
#: pages also match short questions.
FEW_WORDS = 3


def document(entry: Entry) -> Document:
    """Convert a page to a `Document`, for ranking."""
    return Document(entry.page.url, entry.page.title, entry.text, entry.page.published_at)


def answer(
    matches: Sequence[Match],
    known: Mapping[int, Entry],
    question: Asked,
    weights: Mapping[str, float],
    limit: int,
    near: Sequence[Near] = (),
) -> list[Recalled]:
    """Return up to `limit` matching pages of `known`, best first. `weights` holds term rarity."""
    documents = {number: document(entry) for number, entry in known.items()}
    there = with_near([match for match in matches if match.number in known], near, documents)
    spans: dict[int, list[tuple[int, int]]] = {}
    for match in there:
        spans.setdefault(match.number, []).append((match.start, match.end))
    words = {word for term in question.terms for word in term.words}
    tells = min(1.0, sum(term.needed for term in question.terms) / FEW_WORDS)
    best = blend_rankings(rank(there, documents, question, weights), near, documents)[:limit]

    def recalled(one: Ranked) -> Recalled:
        entry = known[one.best.number]
        shown = snippet(entry.text[one.best.start : one.best.end], words)
        merged = merge_spans(spans[one.best.number])
        return Recalled(entry, shown, round(one.own * tells, 3), merged)

    return [recalled(one) for one in best]


_HEAP_BYTES = 32_000_000


class PassageIndex:
    """A full-text index of stored pages, kept in `folder`. A writer must hold the store's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: tantivy.Index | None = None

    def searcher(self) -> tantivy.Searcher | None:
        """Return a view of the index at its last commit, or None if there is no index."""
        if self._index is None and not (self.folder / "meta.json").exists():
            return None
        self._index = self._index or open_index(self.folder)
        self._index.reload()
        return self._index.searcher()

    @property
    def intact(self) -> bool:
        """True if there is an undamaged index in the current format."""
        try:
            return self.searcher() is not None
        except ValueError:
            return False

    def write(self, entries: Iterable[tuple[int, Entry]], gone: Iterable[int] = ()) -> None:
        """In one commit, delete the pages numbered in `gone` and index `entries` by number."""
        private_folder(self.folder)
        writer = open_writer(open_index(self.folder), _HEAP_BYTES)
        dropped = tantivy.Query.term_set_query(schema(), "document", list(gone))
        writer.delete_documents_by_query(dropped)
        for number, entry in entries:
            page = document(entry)
            for passage in index_passages(number, page, pieces(page)):
                writer.add_document(passage)
        writer.commit()
        writer.wait_merging_threads()
        close_files(self.folder)

    def remove(self) -> None:
        """Delete the index files. Current readers keep their view."""
        shutil.rmtree(self.folder, ignore_errors=True)


#: The highest position that a tsvector can store.
_LAST = 16_383
# PostgreSQL's weight letters for title, heading and body.
TITLE, HEADING, BODY = "A", "B", "D"
#: Weights of PostgreSQL's text search labels D, C, B and A, proportional to BOOSTS.
WEIGHTS = [0.5, 0.5, 0.6, 0.75]


class Passage(NamedTuple):
    """A passage's position in the page and its words as a tsvector."""

    begins: int
    ends: int
    words: str


def passages_of(entry: Entry, owner: str) -> list[Passage]:
    """Return a page's passages. Each has an additional word that identifies the owner."""
    title = all_terms(entry.page.title)
    made = []
    for piece in pieces(document(entry)):
        body = all_terms(entry.text[piece.start : piece.end])
        fields = ((title, TITLE), (all_terms(piece.heading), HEADING), (body, BODY))
        made.append(Passage(piece.start, piece.end, _vector(fields, owner)))
    return made


def words_of(question: Asked) -> list[str]:
    """Return a question's distinct words as lexemes for a tsquery."""
    return [*dict.fromkeys(word for term in question.terms for word in lexemes_of(term))]


def lexemes_of(term: Term) -> list[str]:
    """Return a term's words as lexemes."""
    return [lexeme(word) for word in ((term.text,) if term.signed else term.words)]


def mark(owner: str) -> str:
    """Return the lexeme that marks an owner's passages. It starts with "@", as no word does."""
    return lexeme(f"@{owner}")


def lexeme(word: str) -> str:
    """Quote a word for use as a PostgreSQL lexeme."""
    plain = word.replace("\x00", "").encode(errors="replace").decode()
    return "'" + plain.replace("\\", "\\\\").replace("'", "''") + "'"


def _vector(fields: Iterable[tuple[list[str], str]], owner: str) -> str:
    places: dict[str, list[str]] = {mark(owner): []}
    weighed = ((word, weight) for words, weight in fields for word in words)
    for place, (word, weight) in enumerate(weighed, 1):
        places.setdefault(lexeme(word), []).append(f"{min(place, _LAST)}{weight}")
    return " ".join(f"{word}:{','.join(at)}" if at else word for word, at in places.items())
